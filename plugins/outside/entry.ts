/** One entry of an open directory, looked at without following it. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { codeOf } from './errno.ts';
import type { FileStat } from './contract.ts';
import { problem } from './file-problem.ts';
import { Moved } from './open-directory.ts';
import type { Directory } from './open-directory.ts';

/** An entry of an open directory; `path` names it in messages. */
export interface Place {
  readonly directory: Directory;
  readonly name: string;
  readonly path: string;
}

/** What is under that name, undefined for nothing. */
export async function entryOf(directory: Directory, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(directory.at(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Throws FileProblem for a directory, a pipe, a socket and a device; links and files pass. `done` ends the sentence: "read", "written". */
export function requireFile(stat: Stats, path: string, done: string): void {
  if (stat.isDirectory()) throw problem('Is a directory', path);
  if (stat.isFile() || stat.isSymbolicLink()) return;
  throw problem(`Only regular files can be ${done}, and this is a pipe, a socket or a device`, path, { blockedBy: 'sandbox' });
}

/** The regular file that is about to be written, undefined when there is none yet. Throws as `requireFile`, for a read-only file, and Moved for a link. */
export async function writable(directory: Directory, name: string, path: string): Promise<Stats | undefined> {
  const stat = await entryOf(directory, name);
  if (stat === undefined) return undefined;
  requireFile(stat, path, 'written');
  if (stat.isSymbolicLink()) throw new Moved('a file became a link');
  if ((stat.mode & 0o222) === 0) throw problem('File is read-only', path);
  return stat;
}

/** What is under that name, in the words of the contract; undefined for nothing. Throws Moved for a link. */
export async function statOf(directory: Directory, name: string): Promise<FileStat | undefined> {
  const stat = await entryOf(directory, name);
  if (stat?.isSymbolicLink()) throw new Moved('a file became a link');
  await directory.check();
  return stat && { kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other', size: stat.size };
}
