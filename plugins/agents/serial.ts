/** One job after another. */

export interface Serial {
  /** Runs `job` when all earlier ones have ended, however they ended. Settles as the job does. */
  run<T>(job: () => Promise<T>): Promise<T>;
  /** Resolves when no job is left. */
  idle(): Promise<void>;
}

/** An empty queue. */
export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(job) {
      const result = last.then(job);
      last = result.catch(() => undefined);
      return result;
    },
    async idle() {
      let seen: unknown;
      while (seen !== last) {
        seen = last;
        await last;
      }
    },
  };
}
