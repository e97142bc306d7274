/** Claims the slots that have come, and starts their runs. */
import { randomUUID } from 'node:crypto';
import { type Clock, conflict, isOryxError, type Logger, type Statement, type Store } from '../../kernel/index.ts';
import { type LiveSchedule, slotAfter } from './live-schedule.ts';
import { findSchedule, slotsAccounted, slotTaken } from './schedule-repository.ts';
import type { ScheduleRuns } from './schedule-runs.ts';
import { DISABLED, slotPlan, STILL_RUNNING, type UnrunSlots } from './slot-plan.ts';
import { type NewTaskExecution, runClaimed, slotsRecorded } from './task-execution-repository.ts';

/** How many schedules are settled in one commit; further ones wait, so that everything else gets its turn in between. */
const SLICE = 200;

/** What the dispatcher works with. */
export interface DispatcherParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly runs: ScheduleRuns;
  /** The schedule of that id as it is declared now. */
  readonly find: (scheduleId: string) => LiveSchedule | undefined;
  /** Called when the slots that have come are settled, or could not be: then `error` is given and the same slots come again. */
  readonly onSettled: (schedule: LiveSchedule, error?: unknown) => void;
}

/** What shall become of the slots of a schedule: `rows` say so in the database, if nothing has changed there; `last` is the newest one. */
interface Decision {
  readonly schedule: LiveSchedule;
  readonly last: number | undefined;
  readonly run: NewTaskExecution | undefined;
  /** Those of `rows` that tell of slots that do not run. */
  readonly others: readonly Statement[];
  readonly rows: readonly Statement[];
}

/** Decides about slots. Every claim is settled in the database, so that several dispatchers do no harm. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #waiting = new Set<string>();
  #isSettling = false;
  #startedAt = 0;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Slots before now came while nobody looked. */
  start(): void {
    this.#startedAt = this.#parts.clock.now();
  }

  /** Slots of that schedule may have come. */
  due(scheduleId: string): void {
    this.#waiting.add(scheduleId);
    if (this.#isSettling) return;
    this.#isSettling = true;
    void this.#settleWaiting();
  }

  /**
   * Claims a run by hand and starts it, also for a schedule that is switched off.
   *
   * @param rows  commit together with the claim, before it
   * @throws ORYX_CONFLICT when a run of the schedule is on
   */
  async runNow(schedule: LiveSchedule, traceId: string, rows: readonly Statement[]): Promise<void> {
    const run = { scheduleId: schedule.id, traceId, slot: undefined, startedAt: this.#parts.clock.now() };
    try {
      await this.#parts.store.write(...rows, runClaimed(run, true));
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw conflict(`Schedule "${schedule.key}" of agent "${schedule.profile}" is running: wait for its end`);
    }
    this.#parts.runs.start(schedule, run);
  }

  async #settleWaiting(): Promise<void> {
    // What comes at the same instant is settled together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const ids = [...this.#waiting].slice(0, SLICE);
      for (const id of ids) this.#waiting.delete(id);
      await this.#settle(ids.flatMap((id) => this.#parts.find(id) ?? []));
    }
    this.#isSettling = false;
  }

  /** Never rejects. One schedule that stands otherwise than was thought undoes the whole commit: then each is settled by itself. */
  async #settle(schedules: readonly LiveSchedule[]): Promise<void> {
    const { store, clock, runs } = this.#parts;
    const now = clock.now();
    const isBusy = ({ id, rules }: LiveSchedule): boolean => rules.overlap === 'skip' && runs.isOn(id);
    const alone = schedules.filter(isBusy).map((schedule) => this.#decision(schedule, now));
    const together = schedules.filter((schedule) => !isBusy(schedule)).map((schedule) => this.#decision(schedule, now));
    try {
      await store.write(...together.flatMap(({ rows }) => rows));
    } catch {
      alone.push(...together.splice(0));
    }
    for (const decision of together) this.#settled(decision, decision.run);
    await Promise.all(alone.map((decision) => this.#settleAlone(decision)));
  }

  async #settleAlone(decision: Decision): Promise<void> {
    try {
      this.#settled(decision, await this.#carriedOut(decision));
    } catch (error) {
      this.#parts.onSettled(decision.schedule, error);
    }
  }

  #settled({ schedule, last = 0 }: Decision, run: NewTaskExecution | undefined): void {
    schedule.evaluatedAt = Math.max(schedule.evaluatedAt, last);
    if (run !== undefined) this.#parts.runs.queue(schedule, run);
    this.#parts.onSettled(schedule);
  }

  #decision(schedule: LiveSchedule, now: number): Decision {
    const plan = slotPlan(schedule, now, this.#startedAt);
    if (plan === undefined) return { schedule, last: undefined, run: undefined, others: [], rows: [] };
    const { slots, run: slot, unrun } = plan;
    const next = slotAfter(schedule, slots.last);
    const others = this.#recorded(schedule, unrun);
    if (slot === undefined) {
      return { schedule, last: slots.last, run: undefined, others, rows: [slotsAccounted(schedule.id, slots.last, next), ...others] };
    }
    const run: NewTaskExecution = { scheduleId: schedule.id, traceId: randomUUID(), slot, startedAt: now };
    const claim = runClaimed(run, schedule.rules.overlap === 'skip');
    return { schedule, last: slots.last, run, others, rows: [slotTaken(schedule.id, slot, next), ...others, claim] };
  }

  /** Resolves with the run that was claimed, if any. */
  async #carriedOut({ schedule, run, others, rows }: Decision): Promise<NewTaskExecution | undefined> {
    const { store } = this.#parts;
    if (run?.slot === undefined) {
      await this.#record(schedule, rows);
      return undefined;
    }
    const { slot } = run;
    try {
      await store.write(...rows);
      return run;
    } catch (error) {
      if (isTaken(error)) return undefined;
      if (!isConflict(error)) throw error;
      const isEnabled = (await findSchedule(store, schedule.id))?.enabled === 1;
      const skipped: UnrunSlots = {
        status: 'skipped',
        reason: isEnabled ? STILL_RUNNING : DISABLED,
        slots: { count: 1, first: slot, last: slot },
      };
      const next = slotAfter(schedule, slot);
      await this.#record(schedule, [slotsAccounted(schedule.id, slot, next), ...others, ...this.#recorded(schedule, skipped)]);
      return undefined;
    }
  }

  /** A conflict means that another dispatcher was first, or that the schedule is gone. */
  async #record(schedule: LiveSchedule, rows: readonly Statement[]): Promise<void> {
    try {
      await this.#parts.store.write(...rows);
    } catch (error) {
      if (!isConflict(error)) throw error;
      this.#parts.log.debug('slots were settled by somebody else', { scheduleId: schedule.id });
    }
  }

  #recorded({ id }: LiveSchedule, unrun: UnrunSlots | undefined): readonly Statement[] {
    return unrun === undefined ? [] : slotsRecorded(id, unrun.status, unrun.reason, unrun.slots, this.#parts.clock.now());
  }
}

const isConflict = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STORE_CONFLICT';
/** The slot has a row. */
const isTaken = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STORE_CONSTRAINT';
