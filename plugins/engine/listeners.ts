/** Who listens to which turn. */
import type { Disposer, Logger, TurnEvent } from '../../kernel/index.ts';

type Listener = (event: TurnEvent) => void;

/** Spreads the events of turns. Knows of each open turn what a late listener has missed: the trace id and the text so far. */
export class Listeners {
  readonly #log: Logger;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #said = new Map<string, () => string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Hears of a turn until disposed; also of one that has not begun. */
  add(turnId: string, listener: Listener): Disposer {
    const said = this.#said.get(turnId)?.();
    if (said !== undefined) this.#tell(listener, { type: 'trace', traceId: turnId });
    if (said) this.#tell(listener, { type: 'token', delta: said });
    const set = this.#listeners.get(turnId) ?? new Set();
    this.#listeners.set(turnId, set.add(listener));
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.#listeners.get(turnId) === set) this.#listeners.delete(turnId);
    };
  }

  /** @param said  gives all text of the turn so far; a copy beside it would double what a long answer takes */
  emit(turnId: string, event: TurnEvent, said: () => string): void {
    if (event.type === 'trace') this.#said.set(turnId, said);
    for (const listener of this.#listeners.get(turnId) ?? []) this.#tell(listener, event);
  }

  /** Forgets a turn that is over; its listeners stay until they leave. */
  close(turnId: string): void {
    this.#said.delete(turnId);
  }

  #tell(listener: Listener, event: TurnEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#log.error('a listener of a run threw', { event: event.type, error });
    }
  }
}
