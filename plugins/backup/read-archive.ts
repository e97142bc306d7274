/** Reads a backup and believes nothing of it that its manifest does not confirm. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { invalidInput, notFound } from '../../kernel/index.ts';
import { sha256 } from './archive-writer.ts';
import { DATABASE, MANIFEST, type Manifest, type ManifestEntry, parseManifest } from './manifest.ts';
import { readTar, type TarEntry, TarProblem } from './tar-reader.ts';
import { staysInside } from './workspace-entries.ts';

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\x00-\x1f\x7f]/;
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** Takes an entry while the archive is read; what it gets is not confirmed before `readArchive` has resolved. */
export interface ArchiveSink {
  directory(path: string, mode: number): Promise<void>;
  file(path: string, mode: number, content: AsyncIterable<Buffer>): Promise<void>;
  link(path: string, target: string): Promise<void>;
}

/**
 * Reads the whole archive, hands its entries to `sink`, and resolves with the manifest when every entry is what the manifest says: nothing
 * changed, missing, added or cut off. Paths and link targets that lead out of a workspace are refused before the sink sees them.
 *
 * Rejects with ORYX_NOT_FOUND when there is no such file, ORYX_INVALID_INPUT when it is not a sound backup, and as the sink does.
 */
export async function readArchive(file: string, sink?: ArchiveSink): Promise<Manifest> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw notFound(`There is no backup ${file}.`);
    throw invalidInput(`The backup ${file} cannot be read (${error.code}).`);
  });
  try {
    if (!(await handle.stat()).isFile()) throw new TarProblem('it is not a file');
    const seen = new Map<string, ManifestEntry>();
    let manifest: Manifest | undefined;
    for await (const entry of readTar(handle)) {
      if (manifest !== undefined) throw new TarProblem(`"${entry.path}" stands behind the manifest`);
      if (entry.path === MANIFEST) {
        manifest = await manifestOf(entry);
        continue;
      }
      if (!isSafePath(entry.path) || (entry.type === 'link' && !staysInside(entry.path, entry.target)))
        throw new TarProblem(`"${entry.path}" leads out of the workspace`);
      if (seen.has(entry.path)) throw new TarProblem(`"${entry.path}" is in it twice`);
      seen.set(entry.path, await taken(entry, sink));
    }
    if (manifest === undefined) throw new TarProblem('it has no manifest');
    compare(manifest, seen);
    return manifest;
  } catch (error) {
    if (error instanceof TarProblem) throw invalidInput(`${file} is not a sound backup: ${error.message}. Nothing was changed.`);
    throw error;
  } finally {
    await handle.close();
  }
}

async function manifestOf(entry: TarEntry): Promise<Manifest> {
  if (entry.type !== 'file' || entry.size > MAX_MANIFEST_BYTES) throw new TarProblem('its manifest is not readable');
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content()) chunks.push(chunk);
  const manifest = parseManifest(Buffer.concat(chunks).toString('utf8'));
  if (manifest === undefined) throw new TarProblem('its manifest is not of a format that this version knows');
  return manifest;
}

async function taken(entry: TarEntry, sink: ArchiveSink | undefined): Promise<ManifestEntry> {
  const { path, type, mode, target } = entry;
  if (type === 'directory') await sink?.directory(path, mode);
  if (type === 'link') await sink?.link(path, target);
  if (type !== 'file') return { path, type, mode, size: 0, sha256: type === 'link' ? sha256(target) : '' };

  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of entry.content()) {
      hash.update(chunk);
      yield chunk;
    }
  }
  if (sink === undefined) for await (const _ of hashed());
  else await sink.file(path, mode, hashed());
  return { path, type, mode, size: entry.size, sha256: hash.digest('hex') };
}

function compare(manifest: Manifest, seen: ReadonlyMap<string, ManifestEntry>): void {
  for (const wanted of manifest.entries) {
    const found = seen.get(wanted.path);
    if (found === undefined) throw new TarProblem(`"${wanted.path}" is missing`);
    const isSame = (['type', 'mode', 'size', 'sha256'] as const).every((key) => found[key] === wanted[key]);
    if (!isSame) throw new TarProblem(`"${wanted.path}" was changed`);
  }
  const known = new Set(manifest.entries.map(({ path }) => path));
  const added = [...seen.keys()].find((path) => !known.has(path));
  if (added !== undefined) throw new TarProblem(`"${added}" was added`);
  // SQLite takes a file that is shorter than its smallest page for an empty database.
  if ((seen.get(DATABASE)?.size ?? 0) < 512) throw new TarProblem('it holds no database');
}

/** Names only: nothing absolute, nothing that climbs, no control characters. */
const isSafePath = (path: string): boolean => !CONTROL.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
