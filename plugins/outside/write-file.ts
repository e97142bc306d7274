/** Replacing or creating one entry of an open directory. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { entryOf, writable } from './entry.ts';
import type { Place } from './entry.ts';
import { isMoved, problem } from './file-problem.ts';
import { Moved } from './open-directory.ts';
import type { Directory } from './open-directory.ts';

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const PERMISSIONS = 0o777;

/** How a file is replaced. */
export interface Replacement {
  /** Writes the new content. What it throws leaves the old file as it is. */
  readonly fill: (handle: FileHandle) => Promise<void>;
  /** Names the file in messages. */
  readonly path: string;
  /** Permissions of a file that did not exist; the umask shapes them. Default: those that any new file gets. */
  readonly mode?: number;
  /** The file that is to be replaced: when another one is there by now, Moved is thrown. */
  readonly only?: Stats;
}

/**
 * Writes a new file beside the old one and renames it into place: readers see the old or the new content, never a part, and a full disk
 * changes nothing. The new file keeps the old one's permissions.
 *
 * Throws FileProblem when the entry is a directory, a special file or read-only, Moved when it is a link by now.
 */
export async function replaceFile(directory: Directory, name: string, { fill, path, mode, only }: Replacement): Promise<void> {
  const old = await writable(directory, name, path);
  const temporary = directory.at(`.oryxos.${process.pid}-${randomBytes(9).toString('hex')}.tmp`);
  // Until its permissions are set nobody else may read what may have been private.
  const handle = await open(temporary, FLAGS, old ? 0o600 : (mode ?? 0o666) & PERMISSIONS);
  try {
    try {
      await fill(handle);
      if (old) await keepOwner(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await directory.check();
    if (only && !isSame(only, await entryOf(directory, name))) throw new Moved('a file was replaced');
    await rename(temporary, directory.at(name));
  } catch (error) {
    // The first error is the one to report; what cannot be removed either has a name that tells what it is.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await directory.sync();
}

async function keepOwner(handle: FileHandle, old: Stats): Promise<void> {
  if (process.getuid?.() === 0) await handle.chown(old.uid, old.gid);
  await handle.chmod(old.mode & PERMISSIONS);
}

const isSame = (old: Stats, now: Stats | undefined): boolean =>
  now !== undefined && now.ino === old.ino && now.dev === old.dev && now.size === old.size && now.ctimeMs === old.ctimeMs;

/** How much may be poured, until when, and the permissions of a file that did not exist. */
export interface PourLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly mode?: number;
}

/**
 * Replaces a file by what the pieces make up, and resolves with their size. Throws as `replaceFile` does, FileProblem for more than
 * `maxBytes` and for a file that changed when pieces had been taken already, the signal's reason, and what `pieces` throws.
 */
export async function pourInto(
  { directory, name, path }: Place,
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes, signal, ...rest }: PourLimits,
): Promise<number> {
  let size = 0;
  let begun = false;
  const fill = async (handle: FileHandle): Promise<void> => {
    begun = true;
    for await (const piece of pieces) {
      signal.throwIfAborted();
      size += piece.byteLength;
      if (size > maxBytes) throw problem(`Content too large (more than ${maxBytes} bytes)`, path);
      await handle.writeFile(piece);
    }
  };
  try {
    await replaceFile(directory, name, { path, fill, ...rest });
  } catch (error) {
    if (begun && isMoved(error)) throw problem('Changed while it was being written, try again', path, { cause: error });
    throw error;
  }
  return size;
}
