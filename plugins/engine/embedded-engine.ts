/** The engine inside this process: a durable queue per session and a journal per run. */
import type {
  Clock,
  Disposer,
  Engine,
  History,
  Logger,
  Profile,
  Profiles,
  Statement,
  Store,
  Turn,
  TurnEvent,
  TurnLoop,
  TurnOutcome,
  TurnRequest,
  TurnSummary,
} from '../../kernel/index.ts';
import { isOryxError, OryxError } from '../../kernel/index.ts';
import { Endings } from './endings.ts';
import type { Failpoint } from './failpoint.ts';
import { Journal, ReadOnlyJournal } from './journal.ts';
import { Lanes } from './lanes.ts';
import { Listeners } from './listeners.ts';
import { LiveTurn } from './live-turn.ts';
import type { StepRow, TurnRepository, UnfinishedTurn } from './turn-repository.ts';

/** Turns of one session that may wait. */
const MAX_WAITING = 100;
/** How often a turn is taken up again after crashes. */
const MAX_RESUMES = 3;
/** A turn accepted longer ago than this is not taken up again. */
const MAX_RESUME_AGE_MS = 24 * 3600 * 1000;

/** What an engine works with. `maxRuns` is how many turns run side by side in the process. */
export interface EngineParts {
  readonly store: Store;
  readonly turns: TurnRepository;
  readonly history: History;
  readonly profiles: Profiles;
  readonly loop: TurnLoop;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxRuns: number;
  readonly failpoint: Failpoint;
}

/** The service `engine`. Its owner calls `drain` before the store closes; afterwards it accepts nothing more. */
export class EmbeddedEngine implements Engine {
  readonly #parts: EngineParts;
  readonly #lanes: Lanes;
  readonly #listeners: Listeners;
  readonly #live = new Map<string, LiveTurn>();
  readonly #driving = new Set<Promise<void>>();
  readonly #endings: Endings;
  #accepting = true;
  #suspended = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#lanes = new Lanes(parts.maxRuns);
    this.#listeners = new Listeners(parts.log);
    this.#endings = new Endings(parts);
  }

  async submit(request: TurnRequest, rows: readonly Statement[] = []): Promise<void> {
    if (!this.#accepting) throw stopping();
    if (this.#live.has(request.id)) return;
    if (this.#lanes.waiting(request.sessionId) >= MAX_WAITING) throw busy(request.sessionId);
    const { store, turns, history, clock, profiles, failpoint } = this.#parts;
    const at = clock.now();
    const agent = this.#lanes.isFree(request.sessionId) ? profiles.current(request.profile) : undefined;
    const live = new LiveTurn(request, at);
    this.#live.set(request.id, live);
    const place = this.#lanes.enter(request.sessionId);
    try {
      await store.write(turns.accept(request, agent?.version, at), ...history.accepted(request, at), ...rows);
    } catch (error) {
      this.#live.delete(request.id);
      live.abandon(error as Error);
      void place.then((release) => release());
      if (isOryxError(error) && error.code === 'ORYX_STORE_CONFLICT' && (await turns.outcome(request.id)) !== undefined) return;
      throw error;
    }
    failpoint('after_user_msg_persisted');
    this.#follow(this.#drive(live, place, { attempts: 0, agent, begun: agent !== undefined, steps: [] }));
  }

  async outcome(turnId: string, signal?: AbortSignal): Promise<TurnOutcome> {
    const live = this.#live.get(turnId);
    if (live) return signal ? aborted(live.ended, signal) : live.ended;
    const outcome = this.#endings.unwritten(turnId) ?? (await this.#parts.turns.outcome(turnId));
    if (outcome) return outcome;
    if (outcome === null) throw new OryxError('ORYX_TURN_UNKNOWN', `run ${turnId} is unfinished and is not run by this process`);
    throw new OryxError('ORYX_TURN_UNKNOWN', `there is no run ${turnId}`);
  }

  watch(turnId: string, onEvent: (event: TurnEvent) => void): Disposer {
    return this.#listeners.add(turnId, onEvent);
  }

  async cancel(turnId: string): Promise<void> {
    const live = this.#live.get(turnId);
    if (!live) throw new OryxError('ORYX_TURN_UNKNOWN', `there is no run ${turnId} in progress`);
    live.abort.abort(new OryxError('ORYX_CANCELLED', 'the run was cancelled'));
    await live.ended;
  }

  active(): readonly TurnSummary[] {
    return [...this.#live.values()].map((live) => live.summary());
  }

  async resume(): Promise<void> {
    for (const turn of await this.#parts.turns.unfinished()) {
      if (this.#live.has(turn.request.id)) continue;
      const live = new LiveTurn(turn.request, turn.acceptedAt);
      this.#live.set(turn.request.id, live);
      const steps = await this.#parts.turns.stepsOf(turn.request.id);
      this.#parts.log.info('taking up an unfinished run', {
        traceId: turn.request.id,
        agent: turn.request.profile,
        attempts: turn.attempts,
      });
      this.#follow(this.#takeUp(live, this.#lanes.enter(turn.request.sessionId), turn, steps));
    }
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#accepting = false;
    if (timeoutMs > 0) await this.#untilIdle(timeoutMs);
    this.#suspended = true;
    this.#endings.stop();
    for (const live of this.#live.values()) live.abort.abort(stopping());
    await Promise.all(this.#driving);
  }

  /** Resolves when no turn runs any more, or when the time is over. */
  async #untilIdle(timeoutMs: number): Promise<void> {
    const running = [...this.#live.values()].filter((live) => live.step !== 'queued').map((live) => live.ended.catch(() => undefined));
    let cancel: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#parts.clock.after(timeoutMs, resolve);
    });
    await Promise.race([Promise.all(running), late]);
    cancel();
  }

  #follow(driving: Promise<void>): void {
    const followed = driving
      .catch((error: unknown) => this.#parts.log.error('a run broke off', { error }))
      .finally(() => this.#driving.delete(followed));
    this.#driving.add(followed);
  }

  async #takeUp(live: LiveTurn, place: Promise<() => void>, turn: UnfinishedTurn, steps: readonly StepRow[]): Promise<void> {
    const { profiles, clock } = this.#parts;
    const { profile: name } = live.request;
    const agent = turn.agentVersion === undefined ? undefined : await profiles.at(name, turn.agentVersion);
    const tooOld = clock.now() - turn.acceptedAt > MAX_RESUME_AGE_MS;
    if (!tooOld && turn.attempts <= MAX_RESUMES) return this.#drive(live, place, { attempts: turn.attempts, agent, begun: false, steps });
    const reason = tooOld ? 'it was accepted more than 24 hours ago' : `it was interrupted ${turn.attempts} times`;
    const error = new OryxError('ORYX_INTERRUPTED', `the run was interrupted by a restart and is not taken up again: ${reason}`);
    const release = await place;
    const said = agent ? await this.#runLoop(live, agent, turn.attempts, new ReadOnlyJournal(steps, error)) : failed(live, error);
    // A run whose last step is done had only its end to write: it ended as its journal says.
    await this.#end(live, said.error?.code === error.code ? { ...said, status: 'interrupted' } : said);
    release();
  }

  async #drive(live: LiveTurn, place: Promise<() => void>, from: Start): Promise<void> {
    // A run that has begun has its place already.
    const release = from.begun ? await place : await Promise.race([place, cancellation(live)]);
    if (!release) void place.then((late) => late());
    try {
      await this.#end(live, await this.#run(live, from).catch((error: unknown) => this.#brokenOff(live, error)));
    } catch (error) {
      this.#forget(live);
      live.abandon(error as Error);
    } finally {
      release?.();
    }
  }

  /** The outcome of a run that could not go on, e.g. because the store failed. A suspended run has none: it goes on at the next start. */
  #brokenOff(live: LiveTurn, error: unknown): TurnOutcome {
    if (isOryxError(error) && error.code === 'ORYX_STOPPING') throw error;
    this.#parts.log.error('a run broke off', { traceId: live.request.id, error });
    const reason = isOryxError(error) ? error : new OryxError('ORYX_INTERNAL', 'Internal server error', { cause: error });
    return failed(live, reason);
  }

  async #run(live: LiveTurn, from: Start): Promise<TurnOutcome> {
    const { store, turns, profiles, clock, history, failpoint } = this.#parts;
    const { signal } = live.abort;
    const { id, profile } = live.request;
    this.#check(live);
    if (signal.aborted) return failed(live, signal.reason as OryxError);
    const agent = from.agent ?? profiles.current(profile);
    if (!agent) return failed(live, new OryxError('ORYX_AGENT_GONE', `agent "${profile}" no longer exists`));
    live.step = 'starting';
    if (!from.begun) await store.write(turns.start(id, agent.version));
    const check = (): void => this.#check(live);
    const onStep = (name: string): void => {
      live.step = name;
    };
    const journal = new Journal({ turnId: id, store, turns, clock, failpoint, check, onStep }, from.steps);
    const cancelDeadline = clock.after(agent.settings.timeoutMs, () => live.abort.abort(overdue(agent)));
    try {
      const before = await history.before(live.request, agent.settings.maxHistoryTurns);
      return await this.#runLoop(live, agent, from.attempts + 1, journal, before);
    } finally {
      cancelDeadline();
    }
  }

  #runLoop(
    live: LiveTurn,
    agent: Profile,
    attempt: number,
    steps: Journal | ReadOnlyJournal,
    before: Parameters<TurnLoop['run']>[1] = [],
  ): Promise<TurnOutcome> {
    const turn: Turn = { ...live.request, agent, attempt, signal: live.abort.signal };
    return this.#parts.loop.run(turn, before, steps, (event, said) => this.#listeners.emit(turn.id, event, said));
  }

  /** Makes the end durable, then tells it. */
  async #end(live: LiveTurn, outcome: TurnOutcome): Promise<void> {
    this.#check(live);
    const told = await this.#endings.write(live.request, outcome);
    this.#parts.failpoint('after_reply_persisted_before_response');
    this.#tell(live, told);
  }

  #tell(live: LiveTurn, outcome: TurnOutcome): void {
    this.#forget(live);
    live.end(outcome);
  }

  #forget(live: LiveTurn): void {
    this.#live.delete(live.request.id);
    this.#listeners.close(live.request.id);
  }

  /** Nothing of a suspended run is written any more: the next start takes it up where the journal stands. */
  #check(live: LiveTurn): void {
    const { reason } = live.abort.signal;
    if (this.#suspended || (isOryxError(reason) && reason.code === 'ORYX_STOPPING')) throw stopping();
  }
}

/** Where a run begins: anew, or from what an earlier process left. `begun`: its start is durable already. */
interface Start {
  readonly attempts: number;
  readonly agent: Profile | undefined;
  readonly begun: boolean;
  readonly steps: readonly StepRow[];
}

function failed(live: LiveTurn, error: OryxError): TurnOutcome {
  return { turnId: live.request.id, status: 'failed', reply: '', stopReason: 'error', messages: [], error };
}

function stopping(): OryxError {
  return new OryxError('ORYX_STOPPING', 'the server is stopping; accepted runs go on at its next start');
}

function cancellation({ abort }: LiveTurn): Promise<undefined> {
  return new Promise((resolve) => abort.signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

function overdue({ settings }: Profile): OryxError {
  return new OryxError('ORYX_TURN_TIMEOUT', `the run took longer than ${settings.timeoutMs / 1000} s (settings.timeout_seconds)`);
}

function busy(sessionId: string): OryxError {
  return new OryxError('ORYX_SESSION_BUSY', `${MAX_WAITING} runs wait in session "${sessionId}" already; try again later`);
}

/** The promise, or a rejection with the signal's reason, whichever comes first. */
function aborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
