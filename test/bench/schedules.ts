/**
 * Many schedules that are due at the same instant: how late they fire, and how much memory that takes. `node dist/test/bench/schedules.js`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** What a burst has cost. Times are milliseconds after the instant of the slots, for 99 of 100 slots. */
export interface Burst {
  readonly slots: number;
  /** From the instant to the timer that tells the dispatcher. */
  readonly toldMs: number;
  /** From the instant to the beginning of the claim. */
  readonly dispatchedMs: number;
  /** From the instant to the claim on disk. */
  readonly claimedMs: number;
  /** From the instant to the acceptance of the run on disk. */
  readonly acceptedMs: number;
  /** Until every run has ended and is recorded. */
  readonly endedMs: number;
  /** Live memory beyond that before the burst when all slots were claimed, after a full collection. */
  readonly waitingBytes: number;
  /** The highest resident memory beyond that before the burst. */
  readonly peakRssBytes: number;
  /** Runs by their status in the end. */
  readonly ended: Readonly<Record<string, number>>;
}

/** Fires `count` schedules at once in a process of their own. Rejects with what it wrote to standard error when it fails. */
export async function burst(count: number): Promise<Burst> {
  const script = `./schedules-burst${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify({ count })], {
    execArgv: [...process.execArgv.filter((option) => !option.includes('mocha')), '--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  const gone = once(child, 'exit');
  const early = gone.then((): never => {
    throw new Error(`the measured process ended early: ${errors.join('')}`);
  });
  const [result] = (await Promise.race([once(child, 'message'), early])) as [Burst];
  early.catch(() => undefined);
  await gone;
  return result;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { count: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '3' } } });
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const before = loadavg()[0] ?? 0;
    console.log(JSON.stringify({ load: before, ...(await burst(Number(values.count))) }));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
