import type { Clock, Logger, Statement, Store } from '../../kernel/index.ts';

const RETRY_MS = 2_000;

/** What writing needs; `signal` ends the attempts. */
export interface WriteAtLastParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Writes what must not be forgotten because the disk is full for a while: every 2 s until it is written.
 *
 * @param what  names it in the log
 * @returns false when the server stops first
 */
export async function writeAtLast(
  { store, clock, log, signal }: WriteAtLastParts,
  what: string,
  rows: readonly Statement[],
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await store.write(...rows);
      return true;
    } catch (error) {
      if (!signal.aborted) log.error('a record could not be written yet', { what, error });
      await pause(clock, RETRY_MS, signal);
    }
  }
  return false;
}

/** Resolves when the time is over, or at once when the signal aborts. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    const abort = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}
