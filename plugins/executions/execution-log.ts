/** Keeps the record of runs that nobody waits for. */
import { setMaxListeners } from 'node:events';
import { type Clock, type Engine, isOryxError, type Logger, OryxError, type Store } from '../../kernel/index.ts';
import type { Executions, NewExecution, RunEnding } from './contract.ts';
import { executionBegun, executionEnded, executionExpired, findExecution, runningExecutions } from './execution-repository.ts';
import { endingOf, lost, timedOut } from './run-ending.ts';
import { writeAtLast } from './write-at-last.ts';

/** What the log works with. `signal` ends all waiting. */
export interface ExecutionLogParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told of each end that was recorded. */
  readonly onEnded: (source: NewExecution['source'], status: RunEnding['status']) => void;
}

/** The service `executions`, and what its owner needs. */
export interface ExecutionLog extends Executions {
  /** Follows what earlier processes left without an end. Call it when the engine has taken up its runs. */
  recover(): Promise<void>;
}

/** A log in `store`; migrated already. */
export function executionLog(parts: ExecutionLogParts): ExecutionLog {
  const { store, engine, clock, log, signal } = parts;
  // One listener for each run that is followed.
  setMaxListeners(0, signal);
  const followed = new Map<string, Promise<RunEnding | undefined>>();

  async function toItsEnd(traceId: string): Promise<RunEnding | undefined> {
    const row = await findExecution(store, traceId);
    if (row === undefined) throw new OryxError('ORYX_TURN_UNKNOWN', `there is no execution of run ${traceId}`);
    if (row.status !== 'running') {
      return { status: row.status, errorMessage: row.error_message, reason: row.reason, endedAt: row.ended_at ?? row.started_at };
    }
    const ending = await endOf(traceId, row.timeout_ms, row.reason === 'timeout');
    if (ending === undefined) return undefined;
    if (!(await writeAtLast(parts, `the end of execution ${traceId}`, [executionEnded(traceId, ending)]))) return undefined;
    parts.onEnded(row.source, ending.status);
    return ending;
  }

  /** @param isExpired  an earlier process was about to stop it at its deadline */
  async function endOf(traceId: string, timeoutMs: number | null, isExpired: boolean): Promise<RunEnding | undefined> {
    const deadline = timeoutMs === null ? undefined : startDeadline(traceId, timeoutMs);
    try {
      const outcome = await engine.outcome(traceId, signal);
      const isLate = (isExpired || deadline?.isOver === true) && outcome.error?.code === 'ORYX_CANCELLED';
      return isLate && timeoutMs !== null ? timedOut(timeoutMs, clock.now()) : endingOf(outcome, clock.now());
    } catch (error) {
      if (signal.aborted || (isOryxError(error) && error.code === 'ORYX_STOPPING')) return undefined;
      if (isOryxError(error) && error.code === 'ORYX_TURN_UNKNOWN') return lost(clock.now());
      throw error;
    } finally {
      deadline?.stop();
    }
  }

  /** Time counts from the run's first event: waiting in the queue is not running. */
  function startDeadline(traceId: string, timeoutMs: number): { readonly isOver: boolean; stop(): void } {
    const state = { isOver: false, cancel: (): void => undefined };
    const expire = (): void => {
      state.isOver = true;
      store
        .write(executionExpired(traceId))
        .catch((error: unknown) => log.error('it could not be noted that a run is stopped at its deadline', { traceId, error }))
        .then(() => engine.cancel(traceId))
        .catch((error: unknown) => log.debug('a run ended before its deadline could stop it', { traceId, error }));
    };
    const unwatch = engine.watch(traceId, ({ type }) => {
      if (type === 'trace') state.cancel = clock.after(timeoutMs, expire);
    });
    return {
      get isOver() {
        return state.isOver;
      },
      stop() {
        void unwatch();
        state.cancel();
      },
    };
  }

  const follow = (traceId: string): Promise<RunEnding | undefined> => {
    let following = followed.get(traceId);
    if (following === undefined) {
      following = toItsEnd(traceId).finally(() => followed.delete(traceId));
      followed.set(traceId, following);
    }
    return following;
  };

  return {
    begun: executionBegun,
    follow,
    async recover() {
      for (const { trace_id: traceId } of await runningExecutions(store)) {
        if (traceId !== null) follow(traceId).catch((error: unknown) => log.error('an execution cannot be followed', { traceId, error }));
      }
    },
  };
}
