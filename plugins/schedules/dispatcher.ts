/** Claims the slots that have come, and starts their runs. */
import { randomUUID } from 'node:crypto';
import { type Clock, conflict, isOryxError, type Logger, type Statement, type Store } from '../../kernel/index.ts';
import { type LiveSchedule, slotAfter } from './live-schedule.ts';
import { findSchedule, slotsAccounted, slotTaken } from './schedule-repository.ts';
import type { ScheduleRuns } from './schedule-runs.ts';
import { DISABLED, type SlotPlan, slotPlan, STILL_RUNNING, type UnrunSlots } from './slot-plan.ts';
import { type NewTaskExecution, runClaimed, slotsRecorded } from './task-execution-repository.ts';

/** How many claims are under way at once; further ones wait, so that everything else gets its turn. */
const MAX_CLAIMS = 256;

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

/** Decides about slots. Every claim is settled in the database, so that several dispatchers do no harm. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #waiting: string[] = [];
  #claiming = 0;
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
    this.#waiting.push(scheduleId);
    this.#pump();
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

  #pump(): void {
    while (this.#claiming < MAX_CLAIMS) {
      const schedule = this.#parts.find(this.#waiting.shift() ?? '');
      if (schedule === undefined && this.#waiting.length === 0) return;
      if (schedule === undefined) continue;
      this.#claiming += 1;
      void this.#settle(schedule).finally(() => {
        this.#claiming -= 1;
        this.#pump();
      });
    }
  }

  async #settle(schedule: LiveSchedule): Promise<void> {
    const { clock, onSettled } = this.#parts;
    const plan = slotPlan(schedule, clock.now(), this.#startedAt);
    try {
      if (plan !== undefined) await this.#carryOut(schedule, plan);
      schedule.evaluatedAt = Math.max(schedule.evaluatedAt, plan?.slots.last ?? 0);
      onSettled(schedule);
    } catch (error) {
      onSettled(schedule, error);
    }
  }

  async #carryOut(schedule: LiveSchedule, { slots, run: slot, unrun }: SlotPlan): Promise<void> {
    const { store, clock, runs } = this.#parts;
    const next = slotAfter(schedule, slots.last);
    const others = this.#recorded(schedule, unrun);
    if (slot === undefined) return await this.#record(schedule, [slotsAccounted(schedule.id, slots.last, next), ...others]);

    const run: NewTaskExecution = { scheduleId: schedule.id, traceId: randomUUID(), slot, startedAt: clock.now() };
    try {
      const claim = runClaimed(run, schedule.rules.overlap === 'skip');
      await store.write(slotTaken(schedule.id, slot, next), ...others, claim);
    } catch (error) {
      if (isTaken(error)) return;
      if (!isConflict(error)) throw error;
      const isEnabled = (await findSchedule(store, schedule.id))?.enabled === 1;
      const skipped: UnrunSlots = {
        status: 'skipped',
        reason: isEnabled ? STILL_RUNNING : DISABLED,
        slots: { count: 1, first: slot, last: slot },
      };
      const rows = [slotsAccounted(schedule.id, slot, next), ...others, ...this.#recorded(schedule, skipped)];
      return await this.#record(schedule, rows);
    }
    runs.start(schedule, run);
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
