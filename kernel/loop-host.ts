/** What the turn loop needs of the kernel. */
import type { Clock, Extensions, HookName, Hooks, Logger, Point, ReadonlyRegistry } from './contract/index.ts';

/** Calls every tap of a hook under the hook's failure rule. Never rejects but for transforms and required collectors. */
export type HookRunner = {
  readonly [H in HookName]: (...args: Parameters<Hooks[H]>) => Promise<Awaited<ReturnType<Hooks[H]>>>;
};

/**
 * Hooks, registries, time and log of the host that the loop runs in. Everything is asked for at the moment of use, so swapped plugins count
 * at once.
 */
export interface LoopHost {
  readonly hooks: HookRunner;
  readonly clock: Clock;
  readonly log: Logger;
  registry<P extends Point>(point: P): ReadonlyRegistry<Extensions[P]>;
  /** Log lines written inside `fn` carry the trace id. */
  withTrace<T>(traceId: string, fn: () => T): T;
}
