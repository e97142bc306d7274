/** A clock that moves only when told. */
import type { Clock } from '../../kernel/index.ts';

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock for tests. */
export interface FakeClock extends Clock {
  /** Moves time forward, running every timer that comes due at its own instant, in order; timers set meanwhile count too. */
  tick(ms: number): Promise<void>;
  /** Moves time forward at once, as a machine does that was asleep: each timer that came due meanwhile fires, once, at the new time. */
  jump(ms: number): Promise<void>;
  /** Timers that are set. */
  readonly pending: number;
}

/** @param startAt  epoch milliseconds of the first instant */
export function fakeClock(startAt = Date.UTC(2026, 10, 30)): FakeClock {
  let now = startAt;
  const timers = new Set<Timer>();
  const due = (until: number): Timer | undefined => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    monotonic: () => now - startAt,
    after(delayMs, fn) {
      const timer = { at: now + Math.max(0, delayMs), fn };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async tick(ms) {
      await breathe();
      const until = now + ms;
      for (let next = due(until); next; next = due(until)) {
        timers.delete(next);
        now = Math.max(now, next.at);
        next.fn();
        await breathe();
      }
      // Somebody else may have moved it further meanwhile.
      now = Math.max(now, until);
      await breathe();
    },
    async jump(ms) {
      await breathe();
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.fn();
      }
      await breathe();
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Lets everything run that is ready to run, I/O callbacks included. */
export async function breathe(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
