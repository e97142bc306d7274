import type { Statement, Store } from '../../kernel/index.ts';
import type { DeclaredSchedule } from './declared-schedule.ts';

/** A schedule's identity and state; times in epoch milliseconds. */
export interface ScheduleRow {
  readonly schedule_id: string;
  readonly profile_name: string;
  readonly schedule_key: string;
  readonly display_name: string;
  readonly cron: string;
  readonly zone: string | null;
  readonly message: string | null;
  readonly enabled: number;
  readonly retired: number;
  readonly next_run_at: number | null;
  readonly last_run_at: number | null;
  readonly last_status: string | null;
  readonly run_count: number;
  readonly evaluated_at: number;
}

/** What an edit of the agent's file changes. */
export interface ScheduleState {
  readonly scheduleId: string;
  readonly enabled: boolean;
  readonly evaluatedAt: number;
  readonly nextRunAt: number | null;
}

const COLUMNS = `schedule_id, profile_name, schedule_key, display_name, cron, zone, message, enabled, retired, next_run_at, last_run_at,
  last_status, run_count, evaluated_at`;

/** Writes a declared schedule down: a new one, one that has changed, or one that has come back under its old id. */
export const scheduleDeclared = (declared: DeclaredSchedule, state: ScheduleState, at: number): Statement => ({
  sql: `INSERT INTO scheduled_tasks
      (schedule_id, profile_name, schedule_key, display_name, cron, zone, message, enabled, next_run_at, evaluated_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (profile_name, schedule_key) DO UPDATE SET display_name = excluded.display_name, cron = excluded.cron, zone = excluded.zone,
      message = excluded.message, retired = 0,
      next_run_at = CASE WHEN enabled = 1 THEN excluded.next_run_at END, evaluated_at = max(evaluated_at, excluded.evaluated_at),
      updated_at = excluded.updated_at`,
  params: [
    state.scheduleId,
    declared.profile,
    declared.key,
    declared.name,
    declared.cron,
    declared.zone,
    declared.message,
    state.enabled ? 1 : 0,
    state.nextRunAt,
    state.evaluatedAt,
    at,
  ],
});

/** Hides a schedule that is no longer declared. */
export const scheduleRetired = (scheduleId: string, at: number): Statement => ({
  sql: 'UPDATE scheduled_tasks SET retired = 1, next_run_at = NULL, updated_at = ? WHERE schedule_id = ?',
  params: [at, scheduleId],
});

/** Switches a schedule on or off. Changes nothing for an unknown or retired one. */
export const scheduleEnabled = (scheduleId: string, enabled: boolean, nextRunAt: number | null, at: number): Statement => ({
  sql: 'UPDATE scheduled_tasks SET enabled = ?, next_run_at = ?, updated_at = ? WHERE schedule_id = ? AND retired = 0',
  params: [enabled ? 1 : 0, nextRunAt, at, scheduleId],
});

/** Accounts for all slots up to `slot`. Fails the list when they are accounted for already, and for a retired schedule. */
export const slotsAccounted = (scheduleId: string, slot: number, nextRunAt: number | null): Statement => ({
  sql: `UPDATE scheduled_tasks SET evaluated_at = ?, next_run_at = CASE WHEN enabled = 1 THEN ? END
    WHERE schedule_id = ? AND retired = 0 AND evaluated_at < ?`,
  params: [slot, nextRunAt, scheduleId, slot],
  expect: 1,
});

/** As `slotsAccounted`, for a slot that shall run: fails for a schedule that is switched off, too. */
export const slotTaken = (scheduleId: string, slot: number, nextRunAt: number | null): Statement => ({
  sql: `UPDATE scheduled_tasks SET evaluated_at = ?, next_run_at = ?
    WHERE schedule_id = ? AND retired = 0 AND enabled = 1 AND evaluated_at < ?`,
  params: [slot, nextRunAt, scheduleId, slot],
  expect: 1,
});

/** Takes back what was accounted for in a future that is none: the clock was put back. */
export const clockPutBack = (at: number): Statement => ({
  sql: 'UPDATE scheduled_tasks SET evaluated_at = ? WHERE evaluated_at > ?',
  params: [at, at],
});

/** Counts a run that begins. */
export const runBegun = (scheduleId: string, at: number): Statement => ({
  sql: "UPDATE scheduled_tasks SET last_run_at = ?, last_status = 'running', run_count = run_count + 1 WHERE schedule_id = ?",
  params: [at, scheduleId],
});

/** Notes how the run that began at `startedAt` ended, unless another one has begun since. */
export const runEnded = (scheduleId: string, startedAt: number, status: string): Statement => ({
  sql: 'UPDATE scheduled_tasks SET last_status = ? WHERE schedule_id = ? AND last_run_at = ?',
  params: [status, scheduleId, startedAt],
});

/** One schedule, retired ones too. */
export function findSchedule(store: Store, scheduleId: string): Promise<ScheduleRow | undefined> {
  return store.get<ScheduleRow>(`SELECT ${COLUMNS} FROM scheduled_tasks WHERE schedule_id = ?`, scheduleId);
}

/** All schedules of an agent, retired ones too. */
export function schedulesOf(store: Store, profile: string): Promise<readonly ScheduleRow[]> {
  return store.all<ScheduleRow>(`SELECT ${COLUMNS} FROM scheduled_tasks WHERE profile_name = ?`, profile);
}

/** All schedules that are declared now, by agent and key. */
export function activeSchedules(store: Store): Promise<readonly ScheduleRow[]> {
  return store.all<ScheduleRow>(`SELECT ${COLUMNS} FROM scheduled_tasks WHERE retired = 0 ORDER BY profile_name, schedule_key`);
}

/** The declared schedules with a key, of whichever agents. */
export function schedulesWithKey(store: Store, key: string): Promise<readonly ScheduleRow[]> {
  return store.all<ScheduleRow>(`SELECT ${COLUMNS} FROM scheduled_tasks WHERE schedule_key = ? AND retired = 0 ORDER BY profile_name`, key);
}

/** Names of agents that have a schedule which is not retired. */
export async function agentsWithSchedules(store: Store): Promise<readonly string[]> {
  const rows = await store.all<{ readonly profile_name: string }>('SELECT DISTINCT profile_name FROM scheduled_tasks WHERE retired = 0');
  return rows.map((row) => row.profile_name);
}
