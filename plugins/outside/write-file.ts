/** Replacing or creating one entry of an open directory. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { codeOf } from './errno.ts';
import { problem } from './file-problem.ts';
import { Moved } from './open-directory.ts';
import type { Directory } from './open-directory.ts';

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const PERMISSIONS = 0o777;

/**
 * Writes a new file beside the old one and renames it into place: readers see the old or the new content, never a part, and a full disk
 * changes nothing. The new file keeps the old one's permissions.
 *
 * Throws FileProblem when the entry is a directory, a special file or read-only, Moved when it is a link by now.
 */
export async function writeFile(directory: Directory, name: string, content: Uint8Array, path: string): Promise<void> {
  const old = await replaceable(directory, name, path);
  const temporary = directory.at(`.oryxos.${process.pid}-${randomBytes(9).toString('hex')}.tmp`);
  // Until its permissions are set nobody else may read what may have been private; the umask shapes those of a new file.
  const handle = await open(temporary, FLAGS, old ? 0o600 : 0o666);
  try {
    try {
      await fill(handle, content, old);
    } finally {
      await handle.close();
    }
    await directory.check();
    await rename(temporary, directory.at(name));
  } catch (error) {
    // The first error is the one to report; what cannot be removed either has a name that tells what it is.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await directory.sync();
}

async function fill(handle: FileHandle, content: Uint8Array, old: Stats | undefined): Promise<void> {
  await handle.writeFile(content);
  if (old) {
    if (process.getuid?.() === 0) await handle.chown(old.uid, old.gid);
    await handle.chmod(old.mode & PERMISSIONS);
  }
  await handle.sync();
}

async function replaceable(directory: Directory, name: string, path: string): Promise<Stats | undefined> {
  const stat = await entry(directory, name);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) throw new Moved('a file became a link');
  if (stat.isDirectory()) throw problem('Is a directory', path);
  if (!stat.isFile())
    throw problem('Only regular files can be written, and this is a pipe, a socket or a device', path, { blockedBy: 'sandbox' });
  if ((stat.mode & 0o222) === 0) throw problem('File is read-only', path);
  return stat;
}

async function entry(directory: Directory, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(directory.at(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
