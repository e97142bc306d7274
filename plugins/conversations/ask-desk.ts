import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/index.ts';
import type { Asks } from './contract.ts';

const ANSWER_WITHIN_MS = 5 * 60 * 1000;

/** A question on its way to a person. */
export interface Question {
  readonly askId: string;
  readonly question: string;
}
/** Gets every question of a turn. Must not throw. */
export type Listener = (question: Question) => void;

interface Pending extends Question {
  readonly turnId: string;
  readonly settle: (answer: string | undefined) => void;
}

/** Brings questions of running turns to whoever listens to them, and the answers back. */
export class AskDesk implements Asks {
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #pending = new Map<string, Pending>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ask(turnId: string, question: string, signal: AbortSignal): Promise<string | undefined> {
    const listeners = this.#listeners.get(turnId);
    if (listeners === undefined || signal.aborted) return Promise.resolve(undefined);
    const askId = randomUUID();
    return new Promise((resolve) => {
      const settle = (answer: string | undefined): void => {
        this.#pending.delete(askId);
        disarm();
        signal.removeEventListener('abort', giveUp);
        resolve(answer);
      };
      const giveUp = (): void => settle(undefined);
      const disarm = this.#clock.after(ANSWER_WITHIN_MS, giveUp);
      signal.addEventListener('abort', giveUp);
      this.#pending.set(askId, { askId, question, turnId, settle });
      for (const listener of listeners) listener({ askId, question });
    });
  }

  /** Answers a question; false when there is no such question, or no longer. */
  answer(askId: string, answer: string): boolean {
    const pending = this.#pending.get(askId);
    pending?.settle(answer);
    return pending !== undefined;
  }

  /**
   * Makes somebody available for the questions of a turn, pending ones included.
   *
   * @returns call it when they leave: questions that nobody else can answer are given up then
   */
  listen(turnId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(turnId) ?? new Set();
    this.#listeners.set(turnId, listeners.add(listener));
    for (const { askId, question } of this.#pendingOf(turnId)) listener({ askId, question });
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(turnId);
      for (const pending of this.#pendingOf(turnId)) pending.settle(undefined);
    };
  }

  /** Gives up every question; for the end of the plugin. */
  close(): void {
    for (const pending of this.#pending.values()) pending.settle(undefined);
    this.#listeners.clear();
  }

  #pendingOf(turnId: string): readonly Pending[] {
    return [...this.#pending.values()].filter((pending) => pending.turnId === turnId);
  }
}
