/** Owns effects and undoes them in reverse order. */
import type { Clock, Disposer, EffectTree } from './contract/index.ts';
import { within } from './deadline.ts';
import { OryxError } from './errors.ts';

/** How long one undo may take before the scope goes on without it. */
const UNDO_TIMEOUT_MS = 30_000;

interface Effect {
  readonly label: string;
  readonly undo: () => Promise<void>;
  readonly child?: Scope;
}

/** What a scope needs: the time, and somebody to tell of a failure that has no caller. */
export interface ScopeHost {
  readonly clock: Clock;
  report(message: string, error: unknown): void;
}

/** Closes once, last effect first, each undo awaited before the next. */
export class Scope {
  readonly label: string;
  readonly #host: ScopeHost;
  readonly #effects = new Set<Effect>();
  readonly #abort = new AbortController();
  #leaveParent: () => void = () => undefined;
  #closing: Promise<void> | undefined;

  constructor(label: string, host: ScopeHost) {
    this.label = label;
    this.#host = host;
  }

  /** Aborts when closing begins, before anything is undone; so do the signals of all children. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Takes over an effect. The returned disposer undoes it now; it never runs twice.
   * Throws ORYX_SCOPE_CLOSED on a closed scope, after starting `undo`, so that what was acquired too late is not lost.
   */
  own(label: string, undo: Disposer): Disposer {
    const effect: Effect = { label, undo: once(undo) };
    if (!this.isClosed) return this.#add(effect);
    effect
      .undo()
      .catch((error: unknown) => this.#host.report(`"${label}", acquired after "${this.label}" closed, could not be undone`, error));
    throw this.#closedError(label);
  }

  /** A scope inside this one: closes with it, in its place in the order, or earlier by itself. Throws ORYX_SCOPE_CLOSED. */
  child(label: string): Scope {
    if (this.isClosed) throw this.#closedError(label);
    const child = new Scope(label, this.#host);
    const effect: Effect = { label, undo: () => child.close(), child };
    child.#leaveParent = () => void this.#effects.delete(effect);
    this.#add(effect);
    return child;
  }

  /** Aborts the signals of this scope and its children. Idempotent. */
  abort(): void {
    this.#abort.abort(new OryxError('ORYX_SCOPE_CLOSED', `"${this.label}" is closing`));
    for (const { child } of this.#effects) child?.abort();
  }

  /**
   * Aborts the signal, then undoes everything. A failing or hanging undo does not stop the others.
   * Rejects, when all is done, with an AggregateError of the failures.
   */
  close(): Promise<void> {
    if (this.#closing) return this.#closing;
    this.#closing = Promise.resolve().then(() => this.#undoAll());
    this.abort();
    return this.#closing;
  }

  /** What it holds, in the order in which it was taken. */
  inspect(): EffectTree {
    return { label: this.label, children: [...this.#effects].map(({ label, child }) => child?.inspect() ?? { label, children: [] }) };
  }

  #add(effect: Effect): Disposer {
    this.#effects.add(effect);
    return async () => {
      try {
        await effect.undo();
      } finally {
        this.#effects.delete(effect);
      }
    };
  }

  async #undoAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const effect of [...this.#effects].toReversed()) {
      try {
        await (effect.child ? effect.undo() : within(this.#host.clock, UNDO_TIMEOUT_MS, effect.undo(), () => this.#hung(effect.label)));
      } catch (error) {
        failures.push(...(error instanceof AggregateError ? error.errors : [error]));
      }
      this.#effects.delete(effect);
    }
    this.#leaveParent();
    if (failures.length > 0)
      throw new AggregateError(failures, `"${this.label}" closed, but ${failures.length} of its effects failed to be undone`);
  }

  #hung(label: string): OryxError {
    return new OryxError('ORYX_PLUGIN_FAILED', `undoing "${label}" of "${this.label}" did not finish within ${UNDO_TIMEOUT_MS / 1000} s`);
  }

  #closedError(label: string): OryxError {
    return new OryxError('ORYX_SCOPE_CLOSED', `"${this.label}" is closed and cannot take "${label}"`);
  }
}

function once(undo: Disposer): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= (async () => undo())());
}
