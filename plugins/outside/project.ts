/** Where a path really leads: links followed the way the kernel follows them, what does not exist yet appended as it stands. */
import { lstat, realpath as realpathWithCallback } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from './errno.ts';

const realpath = promisify(realpathWithCallback.native);
const lstatOf = promisify(lstat);

/** PATH_MAX of Linux; nothing longer can be opened. */
const MAX_PATH_BYTES = 4096;
/** "There is no such entry": the rest of the path is new. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/** A path's real place. `missing` are the names at its end that do not exist yet; none when the whole path exists. */
export interface Projection {
  readonly real: string;
  readonly missing: readonly string[];
}

/** A path that leads nowhere that could be judged. The message is the end of a sentence: "is empty", "leads through a dangling link". */
export class ProjectionProblem extends Error {
  override readonly name = 'ProjectionProblem';
}

/**
 * Resolves links and `..` in the order in which the kernel meets them, so `link/..` is the parent of the link's target. Nothing is
 * decoded, expanded or normalised otherwise: `~`, `%2e` and look-alike characters are names like any other.
 *
 * Throws ProjectionProblem for an empty or over-long path, a NUL character, a dangling link, a loop of links, and a directory that may not be searched.
 *
 * @param base  absolute directory at which relative paths start
 */
export async function project(path: string, base: string): Promise<Projection> {
  if (path === '') throw new ProjectionProblem('is empty');
  if (path.includes('\0')) throw new ProjectionProblem('contains a NUL character');
  const absolute = isAbsolute(path) ? path : `${base}/${path}`;
  if (Buffer.byteLength(absolute) > MAX_PATH_BYTES) throw new ProjectionProblem('is too long');
  const names = absolute.split('/');
  for (let known = names.length; known > 0; known -= 1) {
    const real = await resolved(names.slice(0, known).join('/') || '/');
    if (real !== undefined) return descend(real, names.slice(known));
  }
  throw new ProjectionProblem('cannot be resolved');
}

/** Walks on from a real directory by names of which at least the first is missing, `..` included. */
async function descend(start: string, names: readonly string[]): Promise<Projection> {
  let real = start;
  const missing: string[] = [];
  for (const name of names) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (missing.pop() === undefined) real = dirname(real);
      continue;
    }
    const next = missing.length > 0 ? undefined : await existing(join(real, name));
    if (next === undefined) missing.push(name);
    real = next ?? real;
  }
  return { real: join(real, ...missing), missing };
}

/** The real path of an entry, undefined when there is none. A link whose target is missing is there: opening it with O_CREAT would follow it. */
async function existing(path: string): Promise<string | undefined> {
  const real = await resolved(path);
  if (real !== undefined) return real;
  const entry = await lstatOf(path).catch((error: unknown) => {
    if (ABSENT.has(codeOf(error))) return undefined;
    throw problemOf(error);
  });
  if (entry === undefined) return undefined;
  // It may have come into being since the first look: somebody else makes the same file.
  const now = await resolved(path);
  if (now !== undefined || !entry.isSymbolicLink()) return now;
  throw new ProjectionProblem('leads through a dangling link');
}

async function resolved(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return undefined;
    throw problemOf(error);
  }
}

function problemOf(error: unknown): ProjectionProblem {
  const code = codeOf(error);
  if (code === 'ELOOP') return new ProjectionProblem('leads through a loop of links', { cause: error });
  if (code === 'EACCES') return new ProjectionProblem('leads through a directory that may not be searched', { cause: error });
  return new ProjectionProblem(`cannot be resolved (${code || 'unknown error'})`, { cause: error });
}
