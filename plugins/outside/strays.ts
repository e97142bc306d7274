/** Children that left their process group are found again by a mark in their environment. Linux only: elsewhere none is found. */
import { readFileSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Processes looked at without letting others run; about 1 ms. */
const SLICE = 40;
/** A stray may start another one while it is looked for. */
const MAX_ROUNDS = 10;

/** Decides by the environment ("NAME=value") with which a process was started. */
export type IsStray = (environment: readonly string[]) => boolean;

/**
 * Kills every stray, but never this process and those that it descends from. A process that was started with an empty environment, or as
 * another user, is not found.
 *
 * @returns how many were killed
 */
export async function endStrays(isStray: IsStray): Promise<number> {
  const spared = ancestry();
  const killed = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = await marked(isStray, spared);
    if (found.length === 0) break;
    for (const pid of found) if (kill(pid)) killed.add(pid);
  }
  return killed.size;
}

async function marked(isStray: IsStray, spared: ReadonlySet<number>): Promise<readonly number[]> {
  const found: number[] = [];
  const pids = entries('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, name] of pids.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    if (spared.has(Number(name))) continue;
    // What ended meanwhile, and what belongs to others, reads as nothing. A zombie has no environment any more.
    if (isStray(text(`/proc/${name}/environ`).split('\0'))) found.push(Number(name));
  }
  return found;
}

function ancestry(): ReadonlySet<number> {
  const pids = new Set<number>();
  for (let pid = process.pid; pid > 1 && !pids.has(pid); pid = parentOf(pid)) pids.add(pid);
  return pids;
}

/** The name in the second field may hold blanks and brackets; the parent comes two fields after its last bracket. */
const parentOf = (pid: number): number => Number(/.*\) \S (\d+)/s.exec(text(`/proc/${pid}/stat`))?.[1] ?? 0);

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
    return false;
  }
}

function entries(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
