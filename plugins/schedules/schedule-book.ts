/** The schedules that agents declare, with their identities. Follows the agents; the database remembers. */
import { randomUUID } from 'node:crypto';
import { type Clock, type Logger, notFound, type Profile, type ReadonlyRegistry, type Statement, type Store } from '../../kernel/index.ts';
import { cronExpression } from './cron-expression.ts';
import { type DeclaredSchedule, declaredSchedules } from './declared-schedule.ts';
import { type LiveSchedule, slotAfter } from './live-schedule.ts';
import {
  agentsWithSchedules,
  clockPutBack,
  scheduleDeclared,
  scheduleEnabled,
  type ScheduleRow,
  scheduleRetired,
  schedulesOf,
} from './schedule-repository.ts';
import { timeZone } from './time-zone.ts';

const RETRY_MS = 2_000;
/** Agents whose schedules are looked up at the same time. */
const AT_ONCE = 200;

/** What the book works with. */
export interface ScheduleBookParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly profiles: ReadonlyRegistry<Profile>;
  /** A schedule is new or was edited; `at` is its next slot, null for none. */
  readonly onSet: (schedule: LiveSchedule, at: number | null) => void;
  readonly onRemoved: (scheduleId: string) => void;
}

/** Brings database and memory in line with what is declared at that moment, agent by agent, whatever happened in between. */
export class ScheduleBook {
  readonly #parts: ScheduleBookParts;
  readonly #live = new Map<string, LiveSchedule>();
  readonly #idsOf = new Map<string, readonly string[]>();
  readonly #touched = new Set<string>();
  readonly #unstored = new Set<string>();
  #working: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: ScheduleBookParts) {
    this.#parts = parts;
  }

  find(scheduleId: string): LiveSchedule | undefined {
    return this.#live.get(scheduleId);
  }

  /** All schedules that are declared now. */
  all(): Iterable<LiveSchedule> {
    return this.#live.values();
  }

  /** Looks at every agent, also at those that are gone. Rejects as `Store` does. */
  async start(): Promise<void> {
    const { store, clock, profiles } = this.#parts;
    await store.write(clockPutBack(clock.now()));
    for (const name of await agentsWithSchedules(store)) this.#touched.add(name);
    for (const { name } of profiles.list()) this.#touched.add(name);
    this.#work();
    await this.settled();
  }

  /** The agent has come, changed or gone. */
  touch(agent: string): void {
    if (this.#parts.profiles.get(agent) === undefined) this.#remove(agent, []);
    this.#touched.add(agent);
    this.#work();
  }

  /** Resolves when everything that was declared up to now is in force. */
  async settled(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  /** Switches a schedule on or off. Throws ORYX_NOT_FOUND for an unknown or retired one. */
  async enable(scheduleId: string, enabled: boolean): Promise<void> {
    const { store, clock } = this.#parts;
    await this.settled();
    const schedule = this.#live.get(scheduleId);
    const now = clock.now();
    const next = enabled && schedule !== undefined ? slotAfter(schedule, now) : null;
    const [result] = await store.write(scheduleEnabled(scheduleId, enabled, next, now));
    if (result?.changes !== 1 || schedule === undefined) throw notFound(`There is no schedule "${scheduleId}"`);
    schedule.enabled = enabled;
    // An edit that was under way meanwhile may have read the old state.
    this.touch(schedule.profile);
    await this.settled();
  }

  /** The clock was put back: what is accounted for in its future comes again, but no slot runs twice. */
  async putBack(): Promise<void> {
    const { store, clock, onSet } = this.#parts;
    const now = clock.now();
    await store.write(clockPutBack(now));
    for (const schedule of this.#live.values()) {
      if (schedule.evaluatedAt <= now) continue;
      schedule.evaluatedAt = now;
      onSet(schedule, slotAfter(schedule, now));
    }
  }

  close(): void {
    this.#cancelRetry?.();
    this.#touched.clear();
  }

  #work(): void {
    this.#working ??= this.#reconcileAll().finally(() => {
      this.#working = undefined;
      if (this.#touched.size > 0) this.#work();
    });
  }

  async #reconcileAll(): Promise<void> {
    while (this.#touched.size > 0) {
      const names = [...this.#touched].slice(0, AT_ONCE);
      for (const name of names) this.#touched.delete(name);
      await Promise.all(names.map((name) => this.#reconcile(name).catch((error: unknown) => this.#failed(name, error))));
    }
  }

  #failed(agent: string, error: unknown): void {
    const { log, clock } = this.#parts;
    log.error('the schedules of an agent could not be stored yet', { agent, error });
    this.#unstored.add(agent);
    this.#cancelRetry?.();
    this.#cancelRetry = clock.after(RETRY_MS, () => {
      for (const name of this.#unstored) this.touch(name);
      this.#unstored.clear();
    });
  }

  async #reconcile(agent: string): Promise<void> {
    const { store, clock, profiles, onSet } = this.#parts;
    const rows = new Map((await schedulesOf(store, agent)).map((row) => [row.schedule_key, row]));
    const profile = profiles.get(agent);
    const declared = profile === undefined ? [] : declaredSchedules(profile);
    const now = clock.now();
    const schedules = declared.map((entry) => liveSchedule(entry, rows.get(entry.key), now));
    const keys = new Set(declared.map(({ key }) => key));
    const gone = [...rows.values()].filter((row) => row.retired === 0 && !keys.has(row.schedule_key));
    const statements = [
      ...schedules.flatMap((schedule) => changes(schedule, rows.get(schedule.key), now)),
      ...gone.map((row) => scheduleRetired(row.schedule_id, now)),
    ];
    if (statements.length > 0) await store.write(...statements);

    this.#remove(
      agent,
      schedules.map(({ id }) => id),
    );
    for (const schedule of schedules) {
      this.#live.set(schedule.id, schedule);
      onSet(schedule, slotAfter(schedule, schedule.evaluatedAt));
    }
    if (schedules.length > 0)
      this.#idsOf.set(
        agent,
        schedules.map(({ id }) => id),
      );
  }

  #remove(agent: string, kept: readonly string[]): void {
    for (const id of this.#idsOf.get(agent) ?? []) {
      if (kept.includes(id)) continue;
      this.#live.delete(id);
      this.#parts.onRemoved(id);
    }
    this.#idsOf.delete(agent);
  }
}

/** A new, edited or returned schedule begins now; any other goes on where it stands. */
function liveSchedule(declared: DeclaredSchedule, row: ScheduleRow | undefined, now: number): LiveSchedule {
  const goesOn = row !== undefined && row.retired === 0 && row.cron === declared.cron && row.zone === declared.zone;
  return {
    ...declared,
    id: row?.schedule_id ?? randomUUID(),
    expression: cronExpression(declared.cron),
    timeZone: timeZone(declared.zone),
    enabled: row === undefined || row.enabled === 1,
    evaluatedAt: goesOn ? row.evaluated_at : now,
  };
}

function changes(schedule: LiveSchedule, row: ScheduleRow | undefined, now: number): readonly Statement[] {
  const nextRunAt = schedule.enabled ? slotAfter(schedule, now) : null;
  const isSame =
    row !== undefined &&
    row.retired === 0 &&
    row.display_name === schedule.name &&
    row.cron === schedule.cron &&
    row.zone === schedule.zone &&
    row.message === schedule.message &&
    row.next_run_at === nextRunAt;
  const { id: scheduleId, enabled, evaluatedAt } = schedule;
  return isSame ? [] : [scheduleDeclared(schedule, { scheduleId, enabled, evaluatedAt, nextRunAt }, now)];
}
