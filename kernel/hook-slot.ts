/** One hook: an untappable list of taps, compiled to a tapable hook. */
import tapable from 'tapable';
import type { Clock, Logger, Stage } from './contract/index.ts';
import type { Barrier } from './barrier.ts';
import type { HookSpec } from './hook-table.ts';
import type { Owner } from './registry.ts';
import { within } from './deadline.ts';
import { OryxError, isOryxError, messageOf } from './errors.ts';

/** How long one tap may take. */
const TAP_TIMEOUT_MS = 5_000;

/** One plugin on one hook. `run` may throw and may answer late: the slot applies the rule of the hook. */
export interface Tap {
  readonly owner: Owner;
  readonly stage: Stage;
  /** Collect hooks only: a failure fails the step. */
  readonly required: boolean;
  readonly run: (...args: readonly unknown[]) => unknown;
}

/** What a slot needs of the kernel. */
export interface HookSlotHost {
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly log: Logger;
}

type Run = (...args: readonly unknown[]) => Promise<unknown>;

interface Compiled {
  tapPromise(options: { readonly name: string; readonly stage: number }, run: Run): void;
  promise: Run;
}

/** The vendor's types count arguments; ours vary from hook to hook. */
type HookClass = new (args: readonly string[], name: string) => Compiled;

/** The list as a call sees it: what to call, and whose gates to hold meanwhile. */
interface Snapshot {
  readonly call: Run;
  readonly owners: readonly Owner[];
}

const KINDS: Readonly<Record<HookSpec['kind'], unknown>> = {
  observe: tapable.AsyncSeriesHook,
  decide: tapable.AsyncSeriesBailHook,
  transform: tapable.AsyncSeriesWaterfallHook,
  collect: tapable.AsyncSeriesWaterfallHook,
};

/**
 * Taps come and go; the compiled hook is a cache that every change drops. A call runs the taps that were there when it began, and holds
 * the gates of all their plugins until it ends.
 */
export class HookSlot {
  readonly #name: string;
  readonly #spec: HookSpec;
  readonly #host: HookSlotHost;
  readonly #taps = new Set<Tap>();
  #snapshot: Snapshot | undefined;

  constructor(name: string, spec: HookSpec, host: HookSlotHost) {
    this.#name = name;
    this.#spec = spec;
    this.#host = host;
  }

  get size(): number {
    return this.#taps.size;
  }

  add(tap: Tap): void {
    this.#taps.add(tap);
    this.#snapshot = undefined;
  }

  remove(tap: Tap): void {
    this.#taps.delete(tap);
    this.#snapshot = undefined;
  }

  /** Asks the taps in order of stage, then of arrival. Rejects with ORYX_HOOK_FAILED, and only for a transform or a required collector. */
  readonly call: Run = (...args) => {
    const { barrier } = this.#host;
    if (this.#taps.size === 0 && barrier.isOpen) return Promise.resolve(this.#untouched(args));
    return barrier.admit(() => this.#run(args));
  };

  async #run(args: readonly unknown[]): Promise<unknown> {
    if (this.#taps.size === 0) return this.#untouched(args);
    const { call, owners } = (this.#snapshot ??= this.#compile());
    const leave = owners.map(({ gate }) => gate.enter(`hook ${this.#name}`));
    try {
      return await call(...args);
    } finally {
      for (const release of leave) release();
    }
  }

  /** The answer when nobody taps: the value itself, or no decision. */
  #untouched(args: readonly unknown[]): unknown {
    const { kind } = this.#spec;
    return kind === 'transform' || kind === 'collect' ? args[0] : undefined;
  }

  #compile(): Snapshot {
    const hook = new (KINDS[this.#spec.kind] as HookClass)(this.#spec.args, this.#name);
    for (const tap of this.#taps) hook.tapPromise({ name: tap.owner.name, stage: tap.stage }, this.#guarded(tap));
    return { call: (...args) => hook.promise(...args), owners: [...new Set(Array.from(this.#taps, ({ owner }) => owner))] };
  }

  /** The tap under the failure rule of the hook's kind. */
  #guarded(tap: Tap): Run {
    return async (...args) => {
      try {
        const answer = tap.run(...args);
        return this.#checked(isThenable(answer) ? await this.#bounded(tap, answer) : answer);
      } catch (error) {
        return this.#failed(tap, error);
      }
    };
  }

  /** In a tapable bail hook `null` would be an answer; here it is none. */
  #checked(answer: unknown): unknown {
    const spec = this.#spec;
    const { kind } = spec;
    const isNothing = answer === undefined || answer === null;
    if (spec.kind === 'decide' && !isNothing && spec.isAnswer?.(Object(answer) as object) === false)
      throw new TypeError('a decision must be what the hook asks for, or nothing');
    if (kind === 'collect' && !isNothing && !Array.isArray(answer)) throw new TypeError('a collector must return rows');
    return kind === 'observe' ? undefined : (answer ?? undefined);
  }

  #bounded(tap: Tap, answer: PromiseLike<unknown>): Promise<unknown> {
    const { name, gate } = tap.owner;
    const late = (): Error => {
      const leave = gate.enter(`hook ${this.#name}, overdue`);
      void answer.then(leave, leave);
      return new OryxError('ORYX_HOOK_FAILED', `plugin "${name}" did not answer ${this.#name} within ${TAP_TIMEOUT_MS / 1000} s`);
    };
    return within(this.#host.clock, TAP_TIMEOUT_MS, answer, late);
  }

  #failed({ owner: { name }, required }: Tap, error: unknown): unknown {
    const spec = this.#spec;
    if (spec.kind === 'transform' || (spec.kind === 'collect' && required)) {
      throw new OryxError('ORYX_HOOK_FAILED', `plugin "${name}" failed in ${this.#name}: ${messageOf(error)}`, { cause: error });
    }
    this.#host.log.error('a hook tap failed', { hook: this.#name, tap: name, error });
    if (spec.kind !== 'decide') return undefined;
    const reason = isOryxError(error) ? error.message : 'it failed; the log has the cause';
    return spec.closed(name, `plugin "${name}" could not decide on ${this.#name}: ${reason}`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
