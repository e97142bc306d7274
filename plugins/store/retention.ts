import type { Clock, Logger, Statement, Store } from '../../kernel/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The start of a server has better things to do. */
const FIRST_MS = 60 * 1000;
const PAUSE_MS = 100;
const EVERY_MS = 60 * 60 * 1000;

/** Removes up to `slice` rows that are older than an instant in epoch milliseconds. */
export interface Pruning {
  readonly slice: number;
  statement(before: number, slice: number): Statement;
}

/** What keeping rows for a time needs. */
export interface RetentionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 keeps everything. */
  readonly days: number;
  /** The rows, in words for the log, e.g. "audit rows". */
  readonly what: string;
  readonly prunings: readonly Pruning[];
}

/**
 * Removes rows that are older than `days`, once an hour, in slices with a pause between them, so that nobody waits for it. What fails is
 * logged and tried again an hour later.
 *
 * @returns call it to stop; resolves when nothing is being removed any more
 */
export function startRetention({ store, clock, log, days, what, prunings }: RetentionParts): () => Promise<void> {
  let cancel = (): void => undefined;
  let running = Promise.resolve();
  let isStopped = false;

  async function slice(): Promise<number> {
    const before = clock.now() - days * DAY_MS;
    try {
      const results = await store.write(...prunings.map((pruning) => pruning.statement(before, pruning.slice)));
      return results.some(({ changes }, index) => changes === prunings[index]?.slice) ? PAUSE_MS : EVERY_MS;
    } catch (error) {
      log.error('old rows could not be removed', { rows: what, error });
      return EVERY_MS;
    }
  }

  function arm(delayMs: number): void {
    if (isStopped) return;
    cancel = clock.after(delayMs, () => {
      running = slice().then(arm);
    });
  }

  if (days > 0) arm(FIRST_MS);
  return async () => {
    isStopped = true;
    cancel();
    await running;
  };
}
