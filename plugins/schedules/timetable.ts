/** One timer for all schedules. */
import type { Clock } from '../../kernel/index.ts';
import { type Entry, Heap } from './heap.ts';

/** The clock is looked at this often at least, so that a jump of it, or a sleep of the machine, is noticed. */
export const LOOK_MS = 30_000;
/** A clock that falls behind by less is being adjusted, not put back. */
const PUT_BACK_MS = 1_000;

/** Whom the timetable tells. Neither may throw. */
export interface TimetableListeners {
  /** The instant of that entry has come. It is off the timetable until it is set again. */
  onDue(id: string): void;
  /** The clock was put back. */
  onPutBack(): void;
}

/** Knows when each entry is due next. It does nothing until it is started, and its owner closes it. */
export class Timetable {
  readonly #clock: Clock;
  readonly #listeners: TimetableListeners;
  readonly #entries = new Map<string, Entry>();
  #heap = new Heap();
  #cancel: (() => void) | undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  #isRunning = false;
  /** Wall clock minus monotonic clock: constant unless somebody sets the clock. */
  #drift = 0;

  constructor(clock: Clock, listeners: TimetableListeners) {
    this.#clock = clock;
    this.#listeners = listeners;
  }

  /** How many entries wait. */
  get size(): number {
    return this.#entries.size;
  }

  /** Begins to fire; what is past already fires at once. */
  start(): void {
    this.#isRunning = true;
    this.#drift = this.#clock.now() - this.#clock.monotonic();
    this.#wake();
  }

  close(): void {
    this.#isRunning = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Puts an entry on the timetable, or moves it. `at` in epoch milliseconds. */
  set(id: string, at: number): void {
    const entry = { id, at };
    this.#entries.set(id, entry);
    this.#heap.push(entry);
    // Entries that were moved or removed stay in the heap until their time; too many of them are cleared away.
    if (this.#heap.size > 2 * this.#entries.size + 64) this.#heap = new Heap(this.#entries.values());
    if (this.#isRunning && at < this.#armedFor) this.#arm();
  }

  remove(id: string): void {
    this.#entries.delete(id);
  }

  #arm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    if (!this.#isRunning || this.#entries.size === 0) return;
    const now = this.#clock.now();
    const delayMs = Math.min(LOOK_MS, Math.max(0, (this.#heap.first?.at ?? Number.POSITIVE_INFINITY) - now));
    this.#armedFor = now + delayMs;
    this.#cancel = this.#clock.after(delayMs, () => this.#wake());
  }

  #wake(): void {
    const now = this.#clock.now();
    const drift = now - this.#clock.monotonic();
    const isPutBack = drift < this.#drift - PUT_BACK_MS;
    if (isPutBack || drift > this.#drift) this.#drift = drift;
    if (isPutBack) this.#listeners.onPutBack();
    for (let entry = this.#heap.first; entry !== undefined && entry.at <= now; entry = this.#heap.first) {
      this.#heap.pop();
      if (this.#entries.get(entry.id) !== entry) continue;
      this.#entries.delete(entry.id);
      this.#listeners.onDue(entry.id);
    }
    this.#arm();
  }
}
