/** Writing down how turns ended. */
import type { Clock, History, Logger, Store, TurnOutcome, TurnRequest } from '../../kernel/index.ts';
import { isOryxError, toError } from '../../kernel/index.ts';
import type { TurnRepository } from './turn-repository.ts';

/** How long to wait before an end that could not be written is written again. */
const RETRY_MS = 2_000;

/** What writing an end needs. */
export interface EndingParts {
  readonly store: Store;
  readonly turns: TurnRepository;
  readonly history: History;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Commits ends of turns; one that cannot be written now is kept and written as soon as the store works again. */
export class Endings {
  readonly #parts: EndingParts;
  readonly #retries = new Set<() => void>();
  readonly #unwritten = new Map<string, TurnOutcome>();
  #stopped = false;

  constructor(parts: EndingParts) {
    this.#parts = parts;
  }

  /**
   * Writes the end with everything that was said.
   *
   * @returns the outcome to tell: a success that is not durable is told as a failure, since a crash could still undo it
   */
  async write(request: TurnRequest, outcome: TurnOutcome): Promise<TurnOutcome> {
    try {
      await this.#write(request, outcome);
      return outcome;
    } catch (error) {
      this.#parts.log.error('the end of a run could not be written yet', { traceId: request.id, error });
      const told =
        outcome.status === 'completed' && isOryxError(error)
          ? { ...outcome, status: 'failed' as const, stopReason: 'error' as const, error }
          : outcome;
      this.#unwritten.set(request.id, told);
      this.#retryLater(request, outcome);
      return told;
    }
  }

  /** The outcome that was told of a turn whose end is not written yet. */
  unwritten(turnId: string): TurnOutcome | undefined {
    return this.#unwritten.get(turnId);
  }

  /** Gives up on what is not written; the runs are taken up again at the next start. */
  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  async #write(request: TurnRequest, outcome: TurnOutcome): Promise<void> {
    const { store, turns, history, clock } = this.#parts;
    const at = clock.now();
    await store.write(turns.end(outcome, at), ...history.ended(request, outcome.messages, at));
    this.#unwritten.delete(request.id);
  }

  #retryLater(request: TurnRequest, outcome: TurnOutcome): void {
    if (this.#stopped) return;
    const cancel = this.#parts.clock.after(RETRY_MS, () => {
      this.#retries.delete(cancel);
      this.#write(request, outcome).catch((error: unknown) => {
        if (isOryxError(error) && error.code === 'ORYX_STORE_UNAVAILABLE') this.#retryLater(request, outcome);
        else this.#parts.log.error('the end of a run could not be written', { traceId: request.id, error: toError(error) });
      });
    });
    this.#retries.add(cancel);
  }
}
