/** How fast a channel may be written to. */
import type { NotifyAdapter, NotifyRate } from '../../kernel/index.ts';

const MINUTE_MS = 60_000;

/** Something that was sent: how many messages, until which instant in epoch milliseconds. */
export interface Spent {
  readonly messages: number;
  readonly at: number;
}

/**
 * The rates that hold for a channel: `rate_per_minute` of its configuration, a positive number, else those of its adapter. Less than one in a
 * minute is one in a longer time.
 */
export function ratesOf(adapter: NotifyAdapter, config: Readonly<Record<string, unknown>>): readonly NotifyRate[] {
  const count = Number(config['rate_per_minute'] ?? 0);
  const rates = Number.isFinite(count) && count > 0 ? [{ count, perMs: MINUTE_MS }] : (adapter.rates ?? []);
  return rates.map((rate) => (rate.count < 1 ? { count: 1, perMs: rate.perMs / rate.count } : { ...rate, count: Math.floor(rate.count) }));
}

interface Bucket {
  readonly rate: NotifyRate;
  /** When each token was taken that has not come back, oldest first; at most as many as there are. */
  taken: number[];
}

/** The token buckets of one channel; all of them must have something. A token comes back `perMs` after its message was sent. Times in epoch milliseconds. */
export class RateLimit {
  readonly #buckets: readonly Bucket[];

  /** @param spent  what was sent before, in any order */
  constructor(rates: readonly NotifyRate[], spent: readonly Spent[]) {
    this.#buckets = rates.map((rate) => {
      const times = spent.flatMap(({ messages, at }) => Array.from({ length: Math.min(messages, rate.count) }, () => at));
      return { rate, taken: times.toSorted((a, b) => a - b).slice(-rate.count) };
    });
  }

  /** Milliseconds until something may be sent; 0 for now. */
  waitMs(now: number): number {
    return Math.max(0, ...this.#buckets.map((bucket) => waitIn(bucket, now)));
  }

  /**
   * Something was sent, its answer came now: its receiver has counted it at this instant or before.
   *
   * Call it before the next `waitMs`.
   */
  take(now: number): void {
    for (const bucket of this.#buckets) bucket.taken.push(now);
  }
}

function waitIn(bucket: Bucket, now: number): number {
  const { count, perMs } = bucket.rate;
  // A clock that was set back must not hold tokens for longer than they ever are.
  bucket.taken = bucket.taken.map((at) => Math.min(at, now)).filter((at) => at + perMs > now);
  const first = bucket.taken.at(-count);
  return first === undefined ? 0 : Math.ceil(first + perMs - now);
}
