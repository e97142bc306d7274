import type { Migration } from '../../kernel/index.ts';

/**
 * `scheduled_tasks` gives each (agent, key) an identity that outlives edits and restarts; `task_executions` says what became of every slot.
 * `evaluated_at`: all slots up to then are accounted for.
 */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_scheduled_tasks',
    up: [
      `CREATE TABLE scheduled_tasks (
        schedule_id TEXT PRIMARY KEY,
        profile_name TEXT NOT NULL,
        schedule_key TEXT NOT NULL,
        display_name TEXT NOT NULL,
        cron TEXT NOT NULL,
        zone TEXT,
        message TEXT,
        enabled INTEGER NOT NULL DEFAULT 1,
        retired INTEGER NOT NULL DEFAULT 0,
        next_run_at INTEGER,
        last_run_at INTEGER,
        last_status TEXT,
        run_count INTEGER NOT NULL DEFAULT 0,
        evaluated_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (profile_name, schedule_key)
      )`,
      'CREATE INDEX scheduled_tasks_key ON scheduled_tasks (schedule_key) WHERE retired = 0',
    ],
  },
  {
    name: '002_create_task_executions',
    up: [
      `CREATE TABLE task_executions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        schedule_id TEXT,
        legacy_task_key TEXT,
        legacy_migrated INTEGER NOT NULL DEFAULT 0,
        session_id TEXT,
        trace_id TEXT UNIQUE,
        slot INTEGER,
        status TEXT NOT NULL,
        reason TEXT,
        count INTEGER NOT NULL DEFAULT 1,
        last_slot INTEGER,
        started_at INTEGER NOT NULL,
        success INTEGER,
        error_message TEXT,
        duration_ms INTEGER,
        UNIQUE (schedule_id, slot)
      )`,
      'CREATE INDEX task_executions_schedule ON task_executions (schedule_id)',
      "CREATE INDEX task_executions_running ON task_executions (schedule_id) WHERE status = 'running'",
    ],
  },
  {
    name: '003_index_task_executions_by_time',
    up: ['CREATE INDEX task_executions_started ON task_executions (started_at)'],
  },
];
