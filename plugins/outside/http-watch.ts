/** The time that one call may take as a whole, and its end with the tool's run. */
import type { Clock } from '../../kernel/index.ts';
import { HttpProblem } from './contract.ts';

/** A watch over one call. `signal` aborts when the time is over, when the run ends, and with `end`. */
export interface HttpWatch {
  readonly signal: AbortSignal;
  /** What ended the call: an HttpProblem for its time, or the run's reason. Undefined while nothing has. */
  verdict(): unknown;
  /** Resolves as `work` does. Rejects when `signal` aborts first, and with HttpProblem when `work` takes longer than that. */
  within<T>(work: Promise<T>, limitMs: number, what: string): Promise<T>;
  /** Ends the call, if it still goes on, and the watch. */
  end(): void;
}

/** Watches until `end` is called. */
export function httpWatch(clock: Clock, outer: AbortSignal, totalMs: number): HttpWatch {
  const abort = new AbortController();
  let verdict: unknown;
  const stop = (reason: unknown): void => {
    verdict ??= reason;
    abort.abort(verdict);
  };
  const onOuter = (): void => stop(outer.reason);
  const disarm = clock.after(totalMs, () => stop(timedOut('the answer was not complete', totalMs)));
  outer.addEventListener('abort', onOuter, { once: true });
  if (outer.aborted) onOuter();
  return {
    signal: abort.signal,
    verdict: () => verdict,
    async within(work, limitMs, what) {
      let cancel = (): void => {};
      const over = new Promise<never>((_, reject) => {
        const onAbort = (): void => reject(abort.signal.reason as Error);
        const late = clock.after(limitMs, () => reject(timedOut(what, limitMs)));
        cancel = () => {
          late();
          abort.signal.removeEventListener('abort', onAbort);
        };
        abort.signal.addEventListener('abort', onAbort);
        if (abort.signal.aborted) onAbort();
      });
      try {
        return await Promise.race([work, over]);
      } finally {
        cancel();
      }
    },
    end() {
      disarm();
      outer.removeEventListener('abort', onOuter);
      abort.abort();
    },
  };
}

const timedOut = (what: string, limitMs: number): HttpProblem => new HttpProblem(`Timed out: ${what} within ${limitMs / 1000} s`);
