/** Failures outside of every call: a timer's callback that throws, a promise that nobody waits for. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Told which plugin a failure came from. */
type Told = (plugin: string, error: unknown) => void;

/**
 * Traces failures that would end the process back to the plugin that caused them. What no plugin caused ends the process as always.
 * Errors count as a plugin's when they come from something that its import or setup began, or when its code stands in their stack.
 */
export class Strays {
  readonly #told: Told;
  readonly #running = new AsyncLocalStorage<string>();
  readonly #directories = new Map<string, string>();

  constructor(told: Told) {
    this.#told = told;
  }

  /** Calls `fn`; what it begins, and what that begins, counts as the plugin's. */
  inside<T>(plugin: string, fn: () => T): T {
    return this.#running.run(plugin, fn);
  }

  /** From now on stacks are searched for this URL of a directory. */
  knows(plugin: string, directoryUrl: string): void {
    this.#directories.set(plugin, `${directoryUrl}/`);
    watched.add(this);
    listen();
  }

  /** Stops looking. */
  close(): void {
    this.#running.disable();
    watched.delete(this);
    if (watched.size > 0) return;
    process.off('uncaughtException', onFailure);
    process.off('unhandledRejection', onFailure);
  }

  /** Whether it was a plugin's; if so, it has been told. */
  takes(error: unknown): boolean {
    const plugin = this.#running.getStore() ?? this.#inStack(error);
    if (plugin === undefined) return false;
    this.#told(plugin, error);
    return true;
  }

  #inStack(error: unknown): string | undefined {
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    return [...this.#directories].find(([, url]) => stack.includes(url))?.[0];
  }
}

/** The events of the process are one for all hosts in it. */
const watched = new Set<Strays>();

function listen(): void {
  if (process.listeners('uncaughtException').includes(onFailure)) return;
  // First, so that whoever ends the process for other failures can ask whether this one was taken.
  process.prependListener('uncaughtException', onFailure);
  process.prependListener('unhandledRejection', onFailure);
}

/** The last failure that was a plugin's. */
let taken: { readonly error: unknown } | undefined;

/** Whether the failure that the process is told of right now was a plugin's. */
export const wasTaken = (error: unknown): boolean => taken !== undefined && taken.error === error;

function onFailure(error: unknown): void {
  taken = undefined;
  for (const strays of watched) {
    if (!strays.takes(error)) continue;
    taken = { error };
    return;
  }
  if (process.listenerCount('uncaughtException') === 1) throw error;
}
