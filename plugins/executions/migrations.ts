import type { Migration } from '../../kernel/index.ts';

/** `agent_executions` has a row for each run that was triggered by hand or by a schedule. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_agent_executions',
    up: [
      `CREATE TABLE agent_executions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        agent_name TEXT NOT NULL,
        source TEXT NOT NULL,
        session_id TEXT,
        trace_id TEXT UNIQUE,
        status TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        success INTEGER,
        error_message TEXT,
        reason TEXT,
        duration_ms INTEGER,
        timeout_ms INTEGER
      )`,
      'CREATE INDEX agent_executions_agent ON agent_executions (agent_name, started_at, id)',
      "CREATE INDEX agent_executions_running ON agent_executions (id) WHERE status = 'running'",
    ],
  },
];
