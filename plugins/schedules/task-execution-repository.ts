import type { Statement, Store } from '../../kernel/index.ts';
import type { Slots } from './slots.ts';

/** What became of a slot, of consecutive slots, or of a run by hand (no slot); times in epoch milliseconds. */
export interface TaskExecutionRow {
  readonly id: number;
  readonly schedule_id: string | null;
  readonly legacy_task_key: string | null;
  readonly legacy_migrated: number;
  readonly session_id: string | null;
  readonly trace_id: string | null;
  /** The first slot of the row. */
  readonly slot: number | null;
  readonly status: 'running' | 'success' | 'failed' | 'skipped' | 'missed' | 'interrupted';
  readonly reason: string | null;
  readonly count: number;
  readonly last_slot: number | null;
  readonly started_at: number;
  readonly error_message: string | null;
  readonly duration_ms: number | null;
}

/** A run that is about to begin. */
export interface NewTaskExecution {
  readonly scheduleId: string;
  readonly traceId: string;
  /** Absent for a run by hand. */
  readonly slot: number | undefined;
  readonly startedAt: number;
}

const COLUMNS = `id, schedule_id, legacy_task_key, legacy_migrated, session_id, trace_id, slot, status, reason, count, last_slot, started_at,
  error_message, duration_ms`;
const RUNNING = "SELECT 1 FROM task_executions WHERE schedule_id = ? AND status = 'running'";
const LATEST_SLOT = 'SELECT id FROM task_executions WHERE schedule_id = ? AND slot IS NOT NULL ORDER BY id DESC LIMIT 1';

/** Adds a run. With `alone` it fails the list while another run of the schedule is on. A slot that has a row already fails it always. */
export const runClaimed = (run: NewTaskExecution, alone: boolean): Statement => ({
  sql: `INSERT INTO task_executions (schedule_id, session_id, trace_id, slot, last_slot, status, started_at)
    SELECT ?, ?, ?, ?, ?, 'running', ? ${alone ? `WHERE NOT EXISTS (${RUNNING})` : ''}`,
  params: [
    run.scheduleId,
    `schedule:${run.scheduleId}`,
    run.traceId,
    run.slot ?? null,
    run.slot ?? null,
    run.startedAt,
    ...(alone ? [run.scheduleId] : []),
  ],
  expect: 1,
});

/** Records slots that do not run: they join the schedule's newest slot row when that says the same, else they get a row. */
export const slotsRecorded = (
  scheduleId: string,
  status: 'skipped' | 'missed',
  reason: string,
  slots: Slots,
  at: number,
): readonly Statement[] => [
  {
    sql: `UPDATE task_executions SET count = count + ?, last_slot = ? WHERE id = (${LATEST_SLOT}) AND status = ? AND reason = ?`,
    params: [slots.count, slots.last, scheduleId, status, reason],
  },
  {
    sql: `INSERT OR IGNORE INTO task_executions (schedule_id, slot, last_slot, count, status, reason, started_at, success, duration_ms)
      SELECT ?, ?, ?, ?, ?, ?, ?, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM task_executions WHERE id = (${LATEST_SLOT}) AND last_slot = ?)`,
    params: [scheduleId, slots.first, slots.last, slots.count, status, reason, at, scheduleId, slots.last],
  },
];

/** How a run ended. */
export interface TaskEnding {
  readonly status: 'success' | 'failed' | 'skipped' | 'interrupted';
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly endedAt: number;
}

/** Notes the end of a run; changes nothing for one that has ended. */
export const taskEnded = (traceId: string, ending: TaskEnding): Statement => ({
  sql: `UPDATE task_executions SET status = ?, success = ?, reason = ?, error_message = ?, duration_ms = max(0, ? - started_at)
    WHERE trace_id = ? AND status = 'running'`,
  params: [ending.status, ending.status === 'success' ? 1 : 0, ending.reason, ending.errorMessage, ending.endedAt, traceId],
});

/** Says more about why a run ended as it did. */
export const reasonChanged = (traceId: string, reason: string): Statement => ({
  sql: 'UPDATE task_executions SET reason = ? WHERE trace_id = ?',
  params: [reason, traceId],
});

/** What became of a schedule's slots and runs, newest first. */
export function taskExecutionsOf(store: Store, scheduleId: string, limit: number): Promise<readonly TaskExecutionRow[]> {
  return store.all<TaskExecutionRow>(
    `SELECT ${COLUMNS} FROM task_executions WHERE schedule_id = ? ORDER BY id DESC LIMIT ?`,
    scheduleId,
    limit,
  );
}

/** One run. */
export function findTaskExecution(store: Store, traceId: string): Promise<TaskExecutionRow | undefined> {
  return store.get<TaskExecutionRow>(`SELECT ${COLUMNS} FROM task_executions WHERE trace_id = ?`, traceId);
}

/** Runs without an end, oldest first. */
export function runningTaskExecutions(store: Store): Promise<readonly TaskExecutionRow[]> {
  return store.all<TaskExecutionRow>(`SELECT ${COLUMNS} FROM task_executions WHERE status = 'running' ORDER BY id`);
}

/**
 * Removes up to `limit` rows whose last slot came before `before`, oldest first; not the newest one of a schedule, and none of a run that is
 * on.
 */
export const taskExecutionsPruned = (before: number, limit: number): Statement => ({
  sql: `DELETE FROM task_executions WHERE id IN (
    SELECT id FROM task_executions AS old WHERE started_at < ? AND ifnull(last_slot, 0) < ? AND status <> 'running'
      AND EXISTS (SELECT 1 FROM task_executions WHERE schedule_id IS old.schedule_id AND id > old.id)
    ORDER BY started_at LIMIT ?)`,
  params: [before, before, limit],
});
