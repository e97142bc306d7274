import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OryxError } from '../../kernel/index.ts';

/** What to write and where. `shownAs` is the name that errors use. */
export interface FileWrite {
  readonly file: string;
  readonly content: string | Uint8Array;
  /** Octal; without it an existing file keeps its mode and a new one gets 0644. */
  readonly mode?: number;
  readonly shownAs: string;
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

const DISK_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EIO: 'the disk reported an error',
};

/** Puts `content` in the place of `file`; see `Workspace.writeFile`. */
export async function replaceFile(write: FileWrite): Promise<void> {
  await guarded(write.shownAs, async () => {
    const temp = await writeTemp(write, write.mode ?? (await modeOf(write.file)));
    try {
      await rename(temp, write.file);
    } catch (error) {
      await discard(temp);
      throw error;
    }
    await syncDirectory(dirname(write.file));
  });
}

/** Creates `file` in one step, complete or not at all; see `Workspace.createFile`. */
export async function createFile(write: FileWrite): Promise<boolean> {
  return guarded(write.shownAs, async () => {
    const temp = await writeTemp(write, write.mode ?? 0o644);
    try {
      await linkOrCopy(temp, write.file);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await discard(temp);
    }
    await syncDirectory(dirname(write.file));
    return true;
  });
}

/** A rename would overwrite what another process has put there meanwhile; a hard link fails instead. Some file systems have no links. */
async function linkOrCopy(temp: string, file: string): Promise<void> {
  try {
    await link(temp, file);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
    await copyFile(temp, file, constants.COPYFILE_EXCL);
  }
}

async function writeTemp(write: FileWrite, mode: number): Promise<string> {
  const directory = dirname(write.file);
  await makeDirectory(directory);
  const temp = join(directory, `.${basename(write.file)}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
  const handle = await open(temp, 'wx', 0o600);
  try {
    await handle.writeFile(write.content);
    await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await discard(temp);
    throw error;
  }
  await handle.close();
  return temp;
}

/** A new directory is durable only when its parent is synced too. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function modeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).mode & 0o777;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0o644;
    throw error;
  }
}

async function discard(temp: string): Promise<void> {
  // A temp file that cannot be removed now is removed at the next start; the first error is the one that matters.
  await unlink(temp).catch(() => undefined);
}

async function guarded<T>(shownAs: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = DISK_FAULTS[codeOf(error) ?? ''];
    if (fault === undefined) throw error;
    throw new OryxError('ORYX_STORE_UNAVAILABLE', `"${shownAs}" could not be written: ${fault}. The old content is unchanged.`, {
      cause: error,
    });
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
