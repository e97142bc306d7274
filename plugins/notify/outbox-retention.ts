import type { Clock, Logger, Store } from '../../kernel/index.ts';
import { messagesPruned } from './outbox-repository.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The start of a server has better things to do. */
const FIRST_MS = 60 * 1000;
const PAUSE_MS = 100;
const EVERY_MS = 60 * 60 * 1000;
/** A message may have 1 MiB. */
const SLICE = 50;

/** What keeping messages for a time needs. */
export interface OutboxRetentionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 keeps everything. */
  readonly days: number;
}

/**
 * Removes messages that ended more than `days` ago, once an hour, in slices with a pause between them. What fails is logged and tried again an
 * hour later.
 *
 * @returns call it to stop; resolves when nothing is being removed any more
 */
export function startOutboxRetention({ store, clock, log, days }: OutboxRetentionParts): () => Promise<void> {
  let cancel = (): void => undefined;
  let running = Promise.resolve();
  let stopped = false;

  async function slice(): Promise<number> {
    try {
      const [result] = await store.write(messagesPruned(clock.now() - days * DAY_MS, SLICE));
      return result?.changes === SLICE ? PAUSE_MS : EVERY_MS;
    } catch (error) {
      log.error('old messages could not be removed', { error });
      return EVERY_MS;
    }
  }

  function arm(delayMs: number): void {
    if (stopped) return;
    cancel = clock.after(delayMs, () => {
      running = slice().then(arm);
    });
  }

  if (days > 0) arm(FIRST_MS);
  return async () => {
    stopped = true;
    cancel();
    await running;
  };
}
