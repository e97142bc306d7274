/** Ends runs whose model goes in circles. */

/** One call with what came of it. */
export interface ObservedCall {
  readonly name: string;
  readonly argumentsJson: string;
  readonly result: string;
}

/**
 * Notices a model that repeats the same call with the same result in consecutive answers. Equal calls inside one answer count once.
 *
 * @param limit  how many answers in a row trip it
 */
export class LoopGuard {
  readonly #limit: number;
  #streaks = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the calls of one answer; true when some call has now been repeated `limit` times. */
  observe(calls: readonly ObservedCall[]): boolean {
    const seen = new Map<string, number>();
    for (const call of calls) {
      const signature = JSON.stringify([call.name, call.argumentsJson, call.result]);
      seen.set(signature, (this.#streaks.get(signature) ?? 0) + 1);
    }
    this.#streaks = seen;
    return [...seen.values()].some((count) => count >= this.#limit);
  }
}
