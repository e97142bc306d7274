/** Runs of schedules whose slot is claimed: starts them, follows them to their end, and goes on with them after a crash. */
import { type Engine, isOryxError, messageOf, type ReadonlyRegistry, type Turns } from '../../kernel/index.ts';
import { type Executions, pause, writeAtLast, type WriteAtLastParts } from '../executions/contract.ts';
import type { Sessions } from '../sessions/contract.ts';
import type { FailureNotifier } from './contract.ts';
import { failureReport } from './failure-report.ts';
import type { LiveSchedule } from './live-schedule.ts';
import { runBegun, runEnded } from './schedule-repository.ts';
import { StartLine } from './start-line.ts';
import {
  type NewTaskExecution,
  reasonChanged,
  runningTaskExecutions,
  type TaskEnding,
  type TaskExecutionRow,
  taskEnded,
} from './task-execution-repository.ts';

const RETRY_MS = 2_000;
/** Runs of one schedule that may wait for one that goes on. */
const MAX_WAITING = 100;

/** What the runs work with. */
export interface ScheduleRunParts extends WriteAtLastParts {
  readonly engine: Engine;
  readonly turns: Turns;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly notifiers: ReadonlyRegistry<FailureNotifier>;
  /** The schedule as it is declared now. */
  readonly find: (scheduleId: string) => LiveSchedule | undefined;
}

/** Starts and follows runs. */
export class ScheduleRuns {
  readonly #parts: ScheduleRunParts;
  readonly #going = new Map<string, Promise<void>>();
  readonly #line = new StartLine();

  constructor(parts: ScheduleRunParts) {
    this.#parts = parts;
  }

  /** Starts a run whose claim is durable as soon as there is a place for it. */
  queue(schedule: LiveSchedule, run: NewTaskExecution): void {
    if (this.#line.waiting(schedule.id) >= MAX_WAITING) return this.#keep(run.traceId, this.#end(run, this.#overfull(), schedule));
    this.#line.enter(schedule.id, (begun) => this.#over(schedule, run, begun));
  }

  /** Starts a run whose claim is durable at once. */
  start(schedule: LiveSchedule, run: NewTaskExecution): void {
    void this.#over(schedule, run);
  }

  /** False when no run of the schedule waits or goes on here; another kind of run may be on all the same. */
  isOn(scheduleId: string): boolean {
    return this.#line.has(scheduleId);
  }

  /** Resolves when the run is over and recorded, or when the server stops. */
  async over(traceId: string): Promise<void> {
    await this.#going.get(traceId);
  }

  /** Takes up what earlier processes left without an end. Call it when the engine has taken up its runs. */
  async recover(): Promise<void> {
    for (const row of await runningTaskExecutions(this.#parts.store)) {
      if (row.trace_id !== null && !this.#going.has(row.trace_id)) this.#keep(row.trace_id, this.#recovered(row, row.trace_id));
    }
  }

  #keep(traceId: string, going: Promise<void>): void {
    const kept = going
      .catch((error: unknown) => this.#parts.log.error('a scheduled run broke off', { traceId, error }))
      .finally(() => this.#going.delete(traceId));
    this.#going.set(traceId, kept);
  }

  async #recovered(row: TaskExecutionRow, traceId: string): Promise<void> {
    const { executions, clock, find } = this.#parts;
    const schedule = find(row.schedule_id ?? '');
    const run = { scheduleId: row.schedule_id ?? '', traceId, slot: row.slot ?? undefined, startedAt: row.started_at };
    try {
      const ending = await executions.follow(traceId);
      if (ending !== undefined) await this.#end(run, ending, schedule);
    } catch (error) {
      if (!isOryxError(error) || error.code !== 'ORYX_TURN_UNKNOWN') throw error;
      // The slot was claimed and the server stopped before the run was accepted: nothing of it has happened yet.
      if (schedule !== undefined && clock.now() - (run.slot ?? run.startedAt) <= schedule.rules.maxDelayMs) {
        return this.queue(schedule, run);
      }
      const errorMessage = 'the server stopped before the run began';
      await this.#end(run, { status: 'interrupted', errorMessage, reason: errorMessage, endedAt: clock.now() }, schedule);
    }
  }

  /** Resolves when the run is over; recording that goes on. Never rejects. */
  #over(schedule: LiveSchedule, run: NewTaskExecution, begun?: () => void): Promise<void> {
    const fired = this.#fired(schedule, run, begun);
    this.#keep(
      run.traceId,
      fired.then((ending) => (ending === undefined ? undefined : this.#end(run, ending, schedule))),
    );
    return fired.then(
      () => undefined,
      () => undefined,
    );
  }

  #overfull(): TaskEnding {
    const reason = `${MAX_WAITING} runs of the schedule wait already`;
    return { status: 'skipped', errorMessage: null, reason, endedAt: this.#parts.clock.now() };
  }

  /** Undefined when the server stops first. */
  async #fired(schedule: LiveSchedule, run: NewTaskExecution, begun?: () => void): Promise<TaskEnding | undefined> {
    const { clock, signal, log } = this.#parts;
    for (;;) {
      try {
        return await this.#fire(schedule, run, begun);
      } catch (error) {
        const code = isOryxError(error) ? error.code : undefined;
        if (signal.aborted || code === 'ORYX_STOPPING') {
          this.#line.close();
          return undefined;
        }
        const errorMessage = messageOf(error);
        const isOld = clock.now() - run.startedAt > schedule.rules.maxDelayMs;
        if (code !== 'ORYX_STORE_UNAVAILABLE' || isOld) {
          const status = code === 'ORYX_SESSION_BUSY' ? 'skipped' : 'failed';
          return { status, errorMessage: status === 'failed' ? errorMessage : null, reason: errorMessage, endedAt: clock.now() };
        }
        log.error('a scheduled run could not be started yet', { traceId: run.traceId, error });
        await pause(clock, RETRY_MS, signal);
      }
    }
  }

  async #fire(schedule: LiveSchedule, run: NewTaskExecution, begun = (): void => undefined): Promise<TaskEnding | undefined> {
    const { engine, turns, sessions, executions, clock, log } = this.#parts;
    const { id, profile, name, message, rules } = schedule;
    const { traceId, startedAt } = run;
    const { sessionId } = await sessions.open({ channel: 'scheduler', userId: 'scheduler', agent: profile }, `schedule:${id}`);
    const firing = { scheduleId: id, profile, message: textFor(name, message), firedAt: run.slot ?? startedAt };
    const execution = { traceId, agent: profile, source: 'schedule', sessionId, startedAt, timeoutMs: rules.timeoutMs } as const;
    const rows = [runBegun(id, startedAt), executions.begun(execution), ...sessions.revived(sessionId, startedAt)];
    // Followed from its first event, so that its time limit counts.
    const unwatch = engine.watch(traceId, ({ type }) => {
      if (type !== 'trace') return;
      begun();
      executions.follow(traceId).catch((error: unknown) => log.error('a run cannot be followed', { traceId, error }));
    });
    try {
      const answer = await turns.fire(firing, traceId, rows);
      if ('skip' in answer) return { status: 'skipped', errorMessage: null, reason: answer.skip, endedAt: clock.now() };
      return await executions.follow(traceId);
    } finally {
      await unwatch();
    }
  }

  /** Records the end, and then tells of a failure: people must not wait for a channel to see that a schedule is idle again. */
  async #end({ scheduleId, traceId, startedAt }: NewTaskExecution, ending: TaskEnding, schedule: LiveSchedule | undefined): Promise<void> {
    const parts = this.#parts;
    const channel = ending.status === 'failed' || ending.status === 'interrupted' ? schedule?.rules.onFailure : undefined;
    const notified = channel === undefined ? ending : { ...ending, reason: `${ending.reason}; "${channel}" has not been told yet` };
    const rows = [taskEnded(traceId, notified), runEnded(scheduleId, startedAt, ending.status)];
    const isWritten = await writeAtLast(parts, `the end of scheduled run ${traceId}`, rows);
    if (!isWritten || channel === undefined || schedule === undefined) return;
    const told = await failureReport(parts.notifiers.list()[0], channel, schedule, ending, traceId);
    await writeAtLast(parts, `the report about scheduled run ${traceId}`, [reasonChanged(traceId, `${ending.reason}; ${told}`)]);
  }
}

/** What the agent is told. */
const textFor = (name: string, message: string | null): string =>
  message === null || message.trim() === '' ? `It is time for your scheduled task "${name}". Carry it out now.` : message;
