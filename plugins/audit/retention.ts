import type { Clock, Logger, Store } from '../../kernel/index.ts';
import { llmCallsPruned } from './llm-call-repository.ts';
import { toolInvocationsPruned } from './tool-invocation-repository.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The start of a server has better things to do. */
const FIRST_MS = 60 * 1000;
const PAUSE_MS = 100;
const EVERY_MS = 60 * 60 * 1000;
/** Rows of model calls are small; a row of a tool call may have 128 KiB. */
const SLICE = { llmCalls: 500, toolInvocations: 100 };

/** What keeping records for a time needs. */
export interface RetentionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 keeps everything. */
  readonly days: number;
}

/**
 * Removes rows that are older than `days`, once an hour, in slices with a pause between them, so that nobody waits for it. What fails is
 * logged and tried again an hour later.
 *
 * @returns call it to stop; resolves when nothing is being removed any more
 */
export function startRetention({ store, clock, log, days }: RetentionParts): () => Promise<void> {
  let cancel = (): void => undefined;
  let running = Promise.resolve();
  let stopped = false;

  async function slice(): Promise<number> {
    const before = clock.now() - days * DAY_MS;
    try {
      const statements = [llmCallsPruned(before, SLICE.llmCalls), toolInvocationsPruned(before, SLICE.toolInvocations)];
      const [llm, tools] = await store.write(...statements);
      const isMore = llm?.changes === SLICE.llmCalls || tools?.changes === SLICE.toolInvocations;
      return isMore ? PAUSE_MS : EVERY_MS;
    } catch (error) {
      log.error('old audit rows could not be removed', { error });
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
