/** Decides when to look at which channel: one step at a time for each, all channels side by side, one timer for all. */
import { type Clock, type Logger, OryxError } from '../../kernel/index.ts';

const RETRY_MS = 2_000;
/** The wall clock may jump while a machine sleeps. */
const MAX_SLEEP_MS = 30_000;
/** How long attempts may go on after a stop was asked for. */
const STOP_GRACE_MS = 5_000;

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Does what is due in a channel. Resolves with when to look at it again in epoch milliseconds; undefined when nothing waits there. */
  readonly step: (channel: string) => Promise<number | undefined>;
}

/** A channel in which something waits. `at`: when to look at it, in epoch milliseconds. */
interface Lane {
  isBusy: boolean;
  at: number;
}

/** Its owner calls `close`. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #busy = new Set<Promise<void>>();
  readonly #hardStop = new AbortController();
  #cancelTimer = (): void => undefined;
  #ring = (): void => undefined;
  #rung: Promise<void>;
  #isStopped = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#rung = this.#newBell();
  }

  /** Aborts when attempts under way must end. */
  get stop(): AbortSignal {
    return this.#hardStop.signal;
  }

  /** Goes on until `close`. Everything it does belongs to its caller, not to who wakes it. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      this.#lookAround();
      await this.#rung;
      this.#rung = this.#newBell();
    }
  }

  /** Something may be due in that channel. */
  wake(channel: string): void {
    const lane = this.#lanes.get(channel);
    if (lane !== undefined) lane.at = -Infinity;
    else this.#lanes.set(channel, { isBusy: false, at: -Infinity });
    this.#ring();
  }

  /** Something may be due in every channel in which something waits. */
  wakeAll(): void {
    for (const channel of this.#lanes.keys()) this.wake(channel);
  }

  /** Begins nothing more; resolves when what is under way has ended, which is aborted after 5 s. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#ring();
    const idle = Promise.all(this.#busy);
    const cancel = this.#parts.clock.after(STOP_GRACE_MS, () => this.#hardStop.abort(stopping()));
    await idle;
    cancel();
    this.#hardStop.abort(stopping());
  }

  #newBell(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve;
    });
  }

  #lookAround(): void {
    this.#cancelTimer();
    const now = this.#parts.clock.now();
    let next = Infinity;
    for (const [channel, lane] of this.#lanes) {
      if (lane.isBusy) continue;
      if (lane.at <= now) this.#begin(channel, lane);
      else next = Math.min(next, lane.at);
    }
    if (next < Infinity) this.#cancelTimer = this.#parts.clock.after(Math.min(next - now, MAX_SLEEP_MS), () => this.#ring());
  }

  #begin(channel: string, lane: Lane): void {
    lane.isBusy = true;
    lane.at = Infinity;
    const step = this.#step(channel, lane).finally(() => {
      lane.isBusy = false;
      this.#busy.delete(step);
      this.#ring();
    });
    this.#busy.add(step);
  }

  /** Who wakes the channel during its step has it looked at again. */
  async #step(channel: string, lane: Lane): Promise<void> {
    const { clock, log, step } = this.#parts;
    try {
      const next = await step(channel);
      if (next !== undefined) lane.at = Math.min(lane.at, next);
      else if (lane.at === Infinity) this.#lanes.delete(channel);
    } catch (error) {
      log.error('messages of a channel could not be looked at', { channel, error });
      lane.at = clock.now() + RETRY_MS;
    }
  }
}

function stopping(): OryxError {
  return new OryxError('ORYX_STOPPING', 'the server is stopping; accepted messages go on at its next start');
}
