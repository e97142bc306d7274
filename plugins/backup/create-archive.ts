/** Makes one backup of a workspace, while everything goes on. */
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OryxError } from '../../kernel/index.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { DATABASE, KEY, MANIFEST, type Manifest, type Skipped } from './manifest.ts';
import { readArchive } from './read-archive.ts';
import { unreadable, workspaceEntries } from './workspace-entries.ts';

/** What a backup is made of. */
export interface ArchiveParts {
  /** The workspace. */
  readonly root: string;
  /** Makes a verified copy of the database and resolves with its path; the copy is removed afterwards. */
  readonly copyDatabase: () => Promise<string>;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** A finished backup. */
export interface Archive {
  /** Name in `<root>/backups/`. */
  readonly name: string;
  readonly bytes: number;
  readonly manifest: Manifest;
}

/**
 * Writes `<root>/backups/<time>-workspace.tar` (0600) and reads it back: what it resolves with can be restored. The database is copied first,
 * so that it knows no agent whose files are not in the archive. A backup that fails leaves nothing behind.
 */
export async function createArchive(parts: ArchiveParts, withKey: boolean): Promise<Archive> {
  const directory = join(parts.root, 'backups');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = archiveName(directory, parts.at);
  const temp = join(directory, `.${name}.tmp`);
  const database = await parts.copyDatabase();
  try {
    const bytes = await written(temp, database, withKey, parts);
    const manifest = await readArchive(temp);
    await rename(temp, join(directory, name));
    await sync(directory);
    return { name, bytes, manifest };
  } finally {
    await rm(temp, { force: true });
    await rm(database, { force: true });
  }
}

async function written(temp: string, database: string, withKey: boolean, { root, version, at, signal }: ArchiveParts): Promise<number> {
  const skipped: Skipped[] = [];
  const handle = await open(temp, 'wx', 0o600);
  try {
    const archive = new ArchiveWriter(handle);
    await archive.addFile({ path: DATABASE, type: 'file', mode: 0o600, modifiedAt: at, target: '' }, database);
    for await (const found of workspaceEntries(root, withKey, (left) => void skipped.push(left))) {
      if (signal.aborted) throw new OryxError('ORYX_STOPPING', 'The server is stopping; no backup was made.');
      if (found.type !== 'file') {
        await archive.add(found);
        continue;
      }
      const { entries } = archive;
      const before = entries.length;
      try {
        await archive.addFile(found, join(root, found.path));
      } catch (error) {
        const reason = entries.length === before ? unreadable(error) : undefined;
        if (reason === undefined) throw error;
        skipped.push({ path: found.path, reason });
      }
    }
    const { entries } = archive;
    const manifest: Manifest = {
      format: 1,
      product: 'oryxos',
      version,
      createdAt: new Date(at).toISOString(),
      withKey: entries.some(({ path }) => path === KEY),
      entries,
      skipped,
    };
    await archive.finish(MANIFEST, `${JSON.stringify(manifest, null, 1)}\n`, at);
    return archive.bytes;
  } finally {
    await handle.close();
  }
}

/** "20261130T132700123Z-workspace.tar": sorts by time. */
function archiveName(directory: string, at: number): string {
  const time = new Date(at).toISOString().replaceAll(/[-:.]/g, '');
  for (let copy = 1; ; copy += 1) {
    const name = `${time}-workspace${copy === 1 ? '' : `-${copy}`}.tar`;
    if (!existsSync(join(directory, name))) return name;
  }
}

async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
