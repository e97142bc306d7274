/** Counts the calls in flight in a plugin, so that it is not closed under them. */
import type { Clock } from './contract/index.ts';

/**
 * One per run of a plugin. Entering never waits and never fails, also while somebody drains: the list of taps and items is what keeps
 * newcomers out.
 */
export class Gate {
  readonly #clock: Clock;
  readonly #running = new Set<{ readonly label: string }>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Holds the gate open until the returned function is called; calling that again does nothing. */
  enter(label: string): () => void {
    const ticket = { label };
    this.#running.add(ticket);
    return () => {
      if (!this.#running.delete(ticket) || this.#running.size > 0) return;
      for (const wake of this.#waiting) wake();
    };
  }

  /**
   * Waits until no call is in flight, or gives up.
   *
   * @param timeoutMs  upper bound in milliseconds; 0 means "report, do not wait"
   * @returns labels of the calls still running, oldest first; empty when idle
   *
   * Never rejects: a stuck call must not prevent its plugin from closing.
   */
  async drain(timeoutMs: number): Promise<string[]> {
    if (this.#running.size > 0 && timeoutMs > 0) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          cancel();
          this.#waiting.delete(done);
          resolve();
        };
        const cancel = this.#clock.after(timeoutMs, done);
        this.#waiting.add(done);
      });
    }
    return [...this.#running].map(({ label }) => label);
  }
}
