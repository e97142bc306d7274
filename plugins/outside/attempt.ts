/** Resolve paths, have the very objects judged, act on them; start over when something moved in between. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolRun } from '../../kernel/index.ts';
import { codeOf } from './errno.ts';
import { isMoved, problem } from './file-problem.ts';
import { ProjectionProblem, project } from './project.ts';
import type { Projection } from './project.ts';
import { resolvedClaim } from './resolved-claim.ts';

/** How often an object that is being swapped is resolved and judged anew. */
const ATTEMPTS = 3;
/** The path, and its last name: one that names an entry and not a way to another place. */
const ENTRY = /^(.*\/)?([^/]+)$/s;

/** What is wanted of one path. */
export interface Wanted {
  /** As the caller gave it. */
  readonly path: string;
  readonly access: readonly ('read' | 'write')[];
  /** The entry itself is meant when it is a link, not what it leads to. */
  readonly isEntry?: boolean;
}

/** A path that has been resolved and judged. */
export interface Target extends Projection {
  /** As the caller gave it. */
  readonly path: string;
}

type TargetsOf<W extends readonly Wanted[]> = { readonly [K in keyof W]: Target };

/** Resolves and claims what is wanted, then acts on it. `act` may run again after it threw `Moved` or ELOOP, and must have done nothing then. */
export type Attempt = <const W extends readonly [Wanted, ...Wanted[]], T>(
  wanted: W,
  run: ToolRun,
  act: (...targets: TargetsOf<W>) => Promise<T>,
) => Promise<T>;

/** @param homeOf  an agent's own directory, where its relative paths start */
export function createAttempt(homeOf: (agent: string) => string): Attempt {
  return async (wanted, run, act) => {
    const home = homeOf(run.turn.agent.name);
    for (let left = ATTEMPTS; ; left -= 1) {
      run.signal.throwIfAborted();
      const targets: Target[] = [];
      for (const each of wanted) targets.push(await judged(each, home, run));
      try {
        return await act(...(targets as unknown as TargetsOf<typeof wanted>));
      } catch (error) {
        if (!isMoved(error)) throw error;
        if (left === 1) throw problem('Changed while it was being opened, try again', wanted[0].path, { cause: error });
      }
    }
  };
}

async function judged({ path, access, isEntry }: Wanted, home: string, run: ToolRun): Promise<Target> {
  const target = await projected(path, home, isEntry === true);
  for (const each of access) await run.claim(resolvedClaim(path, target.real, each));
  if (access.includes('write')) await requireHome(target, home, path);
  return { path, ...target };
}

async function projected(path: string, home: string, isEntry: boolean): Promise<Projection> {
  try {
    return await (isEntry ? entryAt(path, home) : project(path, home));
  } catch (error) {
    if (error instanceof ProjectionProblem) throw problem(`The path ${error.message}`, path, { cause: error });
    throw error;
  }
}

/** Where the entry itself is: the directory that holds it is resolved, its own name is not. */
async function entryAt(path: string, home: string): Promise<Projection> {
  const [, directory = '', name = ''] = ENTRY.exec(path) ?? [];
  if (name === '' || name === '.' || name === '..' || name.includes('\0')) return project(path, home);
  const parent = await project(directory === '' ? '.' : directory, home);
  const real = join(parent.real, name);
  if (parent.missing.length > 0) return { real, missing: [...parent.missing, name] };
  return { real, missing: (await exists(real)) ? [] : [name] };
}

/** Anything but "no such entry" shows when the entry is used. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

/** A run that outlives its agent must not bring the agent's directory back: it would stand in the way of a new agent of that name. */
async function requireHome({ real, missing }: Projection, home: string, path: string): Promise<void> {
  if (missing.length === 0) return;
  const place = await project(home, '/');
  if (place.missing.length === 0) return;
  if (real === place.real || real.startsWith(`${place.real}/`)) throw problem('The directory of this agent no longer exists', path);
}
