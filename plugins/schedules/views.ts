import type { ScheduleRow } from './schedule-repository.ts';
import type { TaskExecutionRow } from './task-execution-repository.ts';

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The state of a schedule, which both versions of the API show. */
const stateOf = (row: ScheduleRow) => ({
  profileName: row.profile_name,
  cron: row.cron,
  zone: row.zone,
  message: row.message,
  enabled: row.enabled === 1,
  nextRunAt: time(row.next_run_at),
  lastRunAt: time(row.last_run_at),
  lastStatus: row.last_status,
  runCount: row.run_count,
});

/** `ScheduleView`. */
export const scheduleView = (row: ScheduleRow) => {
  const { profileName, ...state } = stateOf(row);
  return { scheduleId: row.schedule_id, profileName, key: row.schedule_key, name: row.display_name, ...state };
};

/** `LegacyScheduleView`. */
export const legacyScheduleView = (row: ScheduleRow) => ({ taskId: row.schedule_key, ...stateOf(row) });

/** `ExecutionView`. */
export const executionView = (row: TaskExecutionRow, mask: (text: string) => string) => ({
  scheduleId: row.schedule_id,
  legacyTaskKey: row.legacy_task_key,
  legacyMigrated: row.legacy_migrated === 1,
  sessionId: row.session_id,
  startedAt: time(row.started_at),
  success: row.status === 'running' ? null : row.status === 'success',
  errorMessage: row.error_message === null ? null : mask(row.error_message),
  durationMs: row.duration_ms,
  status: row.status,
  reason: row.reason === null ? null : mask(row.reason),
  traceId: row.trace_id,
  slotAt: time(row.slot),
  count: row.count,
  firstSlot: time(row.slot),
  lastSlot: time(row.last_slot),
});
