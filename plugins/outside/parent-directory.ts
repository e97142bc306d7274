/** The directory that holds a target. */
import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Target } from './attempt.ts';
import { codeOf } from './errno.ts';
import { naming, problem } from './file-problem.ts';
import type { Directory, OpenDirectory } from './open-directory.ts';
import { hasControlCharacters } from './printable.ts';

/** Acts on a name in an open directory. */
export type Use<T> = (directory: Directory, name: string) => Promise<T>;

/** Ways to open the directory that holds a target. What the operating system refuses is thrown as FileProblem. */
export interface Parents {
  /** Uses the directory that is there. Throws FileProblem for "/", which nothing holds. */
  existing<T>(target: Target, use: Use<T>): Promise<T>;
  /** Makes the directories that are missing. Throws FileProblem for "/", and for new names with control characters. */
  made<T>(target: Target, use: Use<T>): Promise<T>;
}

/** @param open  how directories are opened */
export function createParents(open: OpenDirectory): Parents {
  return {
    existing: ({ real, path }, use) =>
      naming(path, 'File not found', async () => {
        requireName(real, path);
        return within(open(dirname(real)), (directory) => use(directory, basename(real)));
      }),
    made: ({ real, path, missing }, use) =>
      naming(path, 'Directory not found', async () => {
        requireName(real, path);
        requirePrintable(missing, path);
        return within(madeDirectory(open, dirname(real), missing.slice(0, -1)), (directory) => use(directory, basename(real)));
      }),
  };
}

/** Uses an open directory and closes it, whatever happens. */
export async function within<T>(opening: Promise<Directory>, use: (directory: Directory) => Promise<T>): Promise<T> {
  const directory = await opening;
  try {
    return await use(directory);
  } finally {
    await directory.close();
  }
}

/** Opens a directory; the names at its end that are missing are made first. Whoever calls closes it. */
export async function madeDirectory(open: OpenDirectory, real: string, missing: readonly string[]): Promise<Directory> {
  let top = real;
  for (let up = missing.length; up > 0; up -= 1) top = dirname(top);
  let directory = await open(top);
  try {
    for (const name of missing) {
      await make(directory, name);
      const next = await directory.enter(name);
      await directory.close();
      directory = next;
    }
  } catch (error) {
    await directory.close();
    throw error;
  }
  return directory;
}

/** Throws FileProblem when a new name could forge a line or hide its end. */
export function requirePrintable(missing: readonly string[], path: string): void {
  if (missing.some(hasControlCharacters)) throw problem('A new name must not contain control characters', path);
}

async function make(directory: Directory, name: string): Promise<void> {
  try {
    await mkdir(directory.at(name));
    await directory.sync();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function requireName(real: string, path: string): void {
  if (real === '/') throw problem('Is a directory', path);
}
