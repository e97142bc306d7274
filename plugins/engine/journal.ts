/** The steps of one turn: what is done is answered from here and never done again. */
import type { Clock, Statement, StepOptions, StepResult, Steps, Store } from '../../kernel/index.ts';
import { isOryxError, OryxError } from '../../kernel/index.ts';
import type { Failpoint } from './failpoint.ts';
import { partedJson } from './parted-json.ts';
import type { StepRow, TurnRepository } from './turn-repository.ts';

/** What the journal of one turn works with. */
export interface JournalParts {
  readonly turnId: string;
  readonly store: Store;
  readonly turns: TurnRepository;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  /** Throws when the turn may not go on: nothing more is written then. */
  readonly check: () => void;
  /** Told which step is under way. */
  readonly onStep: (name: string) => void;
}

/** Steps on the tables `turns` and `steps`. */
export class Journal implements Steps {
  readonly #parts: JournalParts;
  readonly #earlier: Map<string, StepRow>;

  /** @param earlier  what a process before this one left of the turn */
  constructor(parts: JournalParts, earlier: readonly StepRow[]) {
    this.#parts = parts;
    this.#earlier = new Map(earlier.map((row) => [row.name, row]));
  }

  async step<T>(
    name: string,
    options: StepOptions<T>,
    fn: (key: string, begin: () => Promise<void>) => Promise<StepResult<T>>,
  ): Promise<T> {
    const earlier = this.#earlier.get(name);
    if (earlier?.state === 'done') return JSON.parse(earlier.valueJson ?? 'null') as T;
    this.#parts.onStep(name);
    if (earlier?.state === 'started') {
      const lost = await options.lost();
      if (!earlier.idempotent) return this.#done(name, false, lost);
      await this.#writeWith(this.#parts.turns.stepForgotten(this.#parts.turnId, name), lost.rows);
    }
    const result = await fn(`${this.#parts.turnId}/${name}`, () => this.#begin(name, options.idempotent));
    if (name.startsWith('llm/')) this.#parts.failpoint('after_llm_response_before_persist');
    const value = await this.#done(name, options.idempotent, result);
    this.#parts.failpoint(name.startsWith('llm/') ? 'after_tool_call_persisted' : 'after_result_persisted');
    return value;
  }

  async #begin(name: string, idempotent: boolean): Promise<void> {
    const { turns, turnId, clock, failpoint } = this.#parts;
    await this.#write(turns.stepStarted(turnId, name, idempotent, clock.now()));
    failpoint(name.startsWith('tool/') ? 'during_tool_execution' : 'step');
  }

  async #done<T>(name: string, idempotent: boolean, result: StepResult<T>): Promise<T> {
    const { turns, turnId, clock, failpoint } = this.#parts;
    await this.#writeWith(turns.stepDone(turnId, name, idempotent, partedJson(result.value), clock.now()), result.rows);
    failpoint('step');
    return result.value;
  }

  /** Writes a step and the rows that describe it. Rejects with ORYX_AUDIT_FAILED when the store works and does not take them. */
  async #writeWith(step: Statement, rows: readonly Statement[] = []): Promise<void> {
    try {
      await this.#write(step, ...rows);
    } catch (error) {
      throw rows.length > 0 && isRefused(error) ? unrecorded(error) : error;
    }
  }

  /** Throws, or rejects as `Store.write` does. */
  #write(...statements: readonly Statement[]): Promise<unknown> {
    this.#parts.check();
    this.#parts.failpoint('step');
    return this.#parts.store.write(...statements);
  }
}

const isRefused = (error: unknown): boolean =>
  !isOryxError(error) || error.code === 'ORYX_STORE_CONSTRAINT' || error.code === 'ORYX_STORE_CONFLICT';

function unrecorded(cause: unknown): OryxError {
  const message =
    'A step of the run could not be recorded, so its result was not used and the run was ended (audit.required). The log of the server says why';
  return new OryxError('ORYX_AUDIT_FAILED', message, { cause });
}

/** Steps that only remember: used to read from the journal what a turn that may not go on has said so far. */
export class ReadOnlyJournal implements Steps {
  readonly #done: ReadonlyMap<string, StepRow>;
  readonly #reason: Error;

  /** @param reason  thrown at the first step that is not done */
  constructor(earlier: readonly StepRow[], reason: Error) {
    this.#done = new Map(earlier.filter((row) => row.state === 'done').map((row) => [row.name, row]));
    this.#reason = reason;
  }

  async step<T>(name: string): Promise<T> {
    const row = this.#done.get(name);
    if (!row) throw this.#reason;
    return JSON.parse(row.valueJson ?? 'null') as T;
  }
}
