import type { Clock, Logger, Store } from '../../kernel/index.ts';
import { taskExecutionsPruned } from './task-execution-repository.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The start of a server has better things to do. */
const FIRST_MS = 60 * 1000;
const PAUSE_MS = 100;
const EVERY_MS = 60 * 60 * 1000;
const SLICE = 500;

/** What keeping rows for a time needs. */
export interface RetentionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 keeps everything. */
  readonly days: number;
}

/**
 * Removes rows of slots and runs that are older than `days`, once an hour, in slices with a pause between them, so that nobody waits for it.
 * What goes on stays, and so does the newest row of each schedule, which tells how it stands. What fails is logged and tried again an hour later.
 *
 * @returns call it to stop; resolves when nothing is being removed any more
 */
export function startRetention({ store, clock, log, days }: RetentionParts): () => Promise<void> {
  let cancel = (): void => undefined;
  let running = Promise.resolve();
  let isStopped = false;

  async function slice(): Promise<number> {
    try {
      const [removed] = await store.write(taskExecutionsPruned(clock.now() - days * DAY_MS, SLICE));
      return removed?.changes === SLICE ? PAUSE_MS : EVERY_MS;
    } catch (error) {
      log.error('old rows of schedules could not be removed', { error });
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
