/** Limits of the operating system for one child, set by prlimit where it is installed. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { findProgram } from './program.ts';

const GIB = 2 ** 30;

/** Our limits by prlimit's option, and the line of /proc/self/limits that tells what may be set. */
const LIMITS = [
  { option: 'nproc', line: 'Max processes', most: 4096 },
  { option: 'as', line: 'Max address space', most: 8 * GIB },
  { option: 'fsize', line: 'Max file size', most: 2 * GIB },
  { option: 'core', line: 'Max core file size', most: 0 },
  { option: 'cpu', line: 'Max cpu time', most: Number.POSITIVE_INFINITY },
] as const;

/**
 * The beginning of a command line that starts a child under limits: at most 4096 processes of the user, 8 GiB of address space, files of
 * 2 GiB, no core dump, and as much CPU time as all cores can give until the deadline. Empty where there is no prlimit.
 */
export async function limitPrefix(timeoutSeconds: number): Promise<readonly string[]> {
  const [program, present] = await Promise.all([findProgram('prlimit'), presentLimits()]);
  if (program === undefined || present === '') return [];
  const cpuSeconds = (timeoutSeconds + 1) * availableParallelism();
  const options = LIMITS.map(({ option, line, most }) => {
    const wanted = option === 'cpu' ? cpuSeconds : most;
    return `--${option}=${Math.min(wanted, hardLimit(present, line))}`;
  });
  return [program.file, ...options, '--'];
}

async function presentLimits(): Promise<string> {
  try {
    return await readFile('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux: limits are left as they are.
    return '';
  }
}

/** Raising a hard limit is not allowed, and asking for it would keep the program from starting. */
function hardLimit(present: string, line: string): number {
  const row = present.split('\n').find((text) => text.startsWith(line)) ?? '';
  const hard = row.slice(line.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}
