/** Who may run now: one turn at a time per session, a bounded number in the process, in order of arrival. */

/** Gives the place back; the next in line goes on. */
export type Release = () => void;

interface Waiter {
  readonly sessionId: string;
  readonly admit: () => void;
}

/**
 * A lane per session, and a number of slots for all of them. A place is taken when `enter` is called, so order is the order of the
 * calls. Idle lanes are forgotten.
 */
export class Lanes {
  readonly #slots: number;
  readonly #lanes = new Map<string, Waiter[]>();
  readonly #ready: Waiter[] = [];
  #running = 0;

  /** @param slots  how many lanes may run side by side */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** How many stand in the session's lane behind the one that runs. */
  waiting(sessionId: string): number {
    return Math.max(0, (this.#lanes.get(sessionId)?.length ?? 0) - 1);
  }

  /** True when a turn of that session would start at once. */
  isFree(sessionId: string): boolean {
    return !this.#lanes.has(sessionId) && this.#running < this.#slots;
  }

  /** Resolves when it is this caller's turn; it must release exactly once. */
  enter(sessionId: string): Promise<Release> {
    return new Promise((resolve) => {
      const waiter: Waiter = { sessionId, admit: () => resolve(() => this.#leave(sessionId)) };
      const lane = this.#lanes.get(sessionId);
      if (lane) lane.push(waiter);
      else this.#lanes.set(sessionId, [waiter]);
      if (!lane) this.#queue(waiter);
    });
  }

  /** The head of a lane waits for a slot; heads get theirs in the order in which they became heads. */
  #queue(waiter: Waiter): void {
    this.#ready.push(waiter);
    this.#admit();
  }

  #admit(): void {
    while (this.#running < this.#slots) {
      const next = this.#ready.shift();
      if (!next) return;
      this.#running += 1;
      next.admit();
    }
  }

  #leave(sessionId: string): void {
    this.#running -= 1;
    const lane = this.#lanes.get(sessionId);
    lane?.shift();
    const head = lane?.[0];
    if (head) this.#queue(head);
    else this.#lanes.delete(sessionId);
    this.#admit();
  }
}
