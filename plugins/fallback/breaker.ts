import type { Clock, LlmAttempt, LlmFailure, ProviderRef } from '../../kernel/index.ts';

const FAILURES_TO_OPEN = 3;
const OPEN_MS = 30_000;

interface State {
  readonly failures: number;
  /** Monotonic milliseconds; before that nobody asks. */
  readonly closedUntil: number;
}

/**
 * Remembers which models keep failing, each pair of provider and model for itself. After three failures in a row one is not asked for as long
 * as its provider wants, or 30 s; then one attempt is let through at a time, and the first success forgets everything. In memory only.
 */
export class Breaker {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #states = new Map<string, State>();
  /** Its own answers come back as failed attempts. */
  readonly #refusals = new WeakSet<LlmFailure>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Why it is not asked now; undefined when it may be. After a pause that counts as the one attempt that is let through: the next one comes
   * 30 s later, whatever becomes of this one.
   */
  refusal(candidate: ProviderRef): LlmFailure | undefined {
    const key = keyOf(candidate);
    const state = this.#states.get(key);
    if (state === undefined || state.failures < FAILURES_TO_OPEN) return undefined;
    const now = this.#clock.monotonic();
    if (now >= state.closedUntil) {
      this.#states.set(key, { ...state, closedUntil: now + OPEN_MS });
      return undefined;
    }
    const seconds = Math.ceil((state.closedUntil - now) / 1000);
    const { provider, model } = candidate;
    const message = `Provider "${provider}" was not asked: model ${model} failed ${state.failures} times in a row and is left alone for ${seconds} s`;
    const refusal: LlmFailure = { kind: 'missing', retryable: false, switchable: true, message };
    this.#refusals.add(refusal);
    return refusal;
  }

  /** Takes note of how an attempt ended. One that was given up or lost says nothing about the model. */
  record(attempt: LlmAttempt): void {
    const { outcome, failure } = attempt;
    if (outcome === 'interrupted' || failure?.kind === 'aborted') return;
    if (failure !== undefined && this.#refusals.has(failure)) return;
    const key = keyOf(attempt);
    if (outcome === 'success' || failure?.switchable !== true) {
      this.#states.delete(key);
      return;
    }
    const failures = (this.#states.get(key)?.failures ?? 0) + 1;
    this.#states.set(key, { failures, closedUntil: this.#clock.monotonic() + (failure.retryAfterMs ?? OPEN_MS) });
  }
}

const keyOf = ({ provider, model }: Pick<ProviderRef, 'provider' | 'model'>): string => `${provider}\n${model}`;
