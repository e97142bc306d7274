/** Keeps calls from seeing half of a change of the plugin set. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Dies with the call that was admitted, so work that outlives the call is a stranger again. */
interface Token {
  alive: boolean;
}

/**
 * While a change is under way new calls wait. A call made inside an admitted one passes, else the two would wait for each other;
 * detached work of a call that has ended does not.
 */
export class Barrier {
  readonly #admitted = new AsyncLocalStorage<Token | undefined>();
  #closed: Promise<void> | undefined;

  /** True when a call would be admitted without waiting. */
  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  /** Runs a call, once it may pass. Settles as `call` does. */
  admit<T>(call: () => Promise<T>): Promise<T> {
    if (this.#admitted.getStore()?.alive) return call();
    return this.#closed ? this.#wait(call) : this.#enter(call);
  }

  /**
   * Makes a change that no call sees half of; one at a time. `change` should be synchronous: every call waits for it.
   * What it calls is not admitted, also when a call asked for the change.
   */
  async during<T>(change: () => T | Promise<T>): Promise<T> {
    while (this.#closed) await this.#closed;
    let open: () => void = () => undefined;
    this.#closed = new Promise<void>((resolve) => {
      open = resolve;
    });
    try {
      return await this.#admitted.run(undefined, change);
    } finally {
      this.#closed = undefined;
      open();
    }
  }

  /** For the end of the kernel. Until then Node notes on every promise of the process who was admitted. */
  close(): void {
    this.#admitted.disable();
  }

  async #wait<T>(call: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#closed;
    return this.#enter(call);
  }

  async #enter<T>(call: () => Promise<T>): Promise<T> {
    const token: Token = { alive: true };
    try {
      return await this.#admitted.run(token, call);
    } finally {
      token.alive = false;
    }
  }
}
