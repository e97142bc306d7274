/** Moving, removing and copying entries of open directories. */
import type { Stats } from 'node:fs';
import { rename, stat, unlink } from 'node:fs/promises';
import { codeOf } from './errno.ts';
import { entryOf, requireFile } from './entry.ts';
import type { Place } from './entry.ts';
import { problem } from './file-problem.ts';
import { piecesOf, withFile } from './read-file.ts';
import { pourInto } from './write-file.ts';

/** Removes a file, or a link itself. Throws FileProblem for a missing entry, a directory and a special file. */
export async function removeFile({ directory, name, path }: Place): Promise<void> {
  await requireSource({ directory, name, path }, 'deleted');
  await directory.check();
  await unlink(directory.at(name));
  await directory.sync();
}

/** Uses the place where a file shall go; directories are made for it when the source is known to be good. */
export type InTarget = (use: (to: Place) => Promise<void>) => Promise<void>;

/** How much is copied, and until when. */
export interface CopyLimits {
  readonly maxBytes: number;
  readonly allowHardlinks: boolean;
  readonly signal: AbortSignal;
}

/**
 * Moves a file, or a link itself, over a file or link that may be there; to another disk by copying.
 *
 * Throws FileProblem when either is a directory or a special file, when both are the same file, and when there is nothing to move.
 */
export async function moveFile(from: Place, inTarget: InTarget, limits: CopyLimits): Promise<void> {
  const source = await requireSource(from, 'moved');
  await inTarget((to) => moved(from, source, to, limits));
}

async function moved(from: Place, source: Stats, to: Place, limits: CopyLimits): Promise<void> {
  const target = await entryOf(to.directory, to.name);
  if (target) requireFile(target, to.path, 'written');
  if (target?.isSymbolicLink() && (await leadsToDirectory(to))) throw problem('Is a directory', to.path);
  // For two names of one file rename(2) would do nothing and report success.
  if (target && isSame(source, target)) throw problem('Source and target are the same file', to.path);
  await from.directory.check();
  await to.directory.check();
  try {
    await rename(from.directory.at(from.name), to.directory.at(to.name));
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    if (source.isSymbolicLink()) throw problem('A link cannot be moved to another disk', from.path, { cause: error });
    await copyFile(from, (use) => use(to), limits);
    await unlink(from.directory.at(from.name));
  }
  await to.directory.sync();
  await from.directory.sync();
}

/** Copies a regular file, with its permissions when the target is new. Throws as `withFile` and `pourInto`, and for more than `maxBytes`. */
export async function copyFile(from: Place, inTarget: InTarget, { maxBytes, allowHardlinks, signal }: CopyLimits): Promise<void> {
  await withFile(from.directory, from.name, { path: from.path, allowHardlinks }, async (file) => {
    if (file.stat.size > maxBytes) throw problem(`File too large to be copied (more than ${maxBytes} bytes)`, from.path);
    await inTarget(async (to) => {
      const target = await entryOf(to.directory, to.name);
      if (target && isSame(file.stat, target)) throw problem('Source and target are the same file', to.path);
      await pourInto(to, piecesOf(file), { maxBytes, signal, mode: file.stat.mode });
    });
  });
}

async function requireSource({ directory, name, path }: Place, done: string): Promise<Stats> {
  const stat = await entryOf(directory, name);
  if (stat === undefined) throw problem('File not found', path);
  requireFile(stat, path, done);
  return stat;
}

async function leadsToDirectory({ directory, name }: Place): Promise<boolean> {
  const found = await stat(directory.at(name)).catch(() => undefined);
  return found?.isDirectory() === true;
}

const isSame = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.dev === other.dev;
