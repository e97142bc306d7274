import type { Migration } from '../../kernel/index.ts';

/**
 * `llm_calls` has one row per attempt, `tool_invocations` one per call. Long texts stand last: to read a column SQLite walks through everything
 * before it. The `_time` indexes hold all that summaries add up, so that these never touch the rows.
 */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_llm_calls_and_tool_invocations',
    up: [
      `CREATE TABLE llm_calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        profile_name TEXT,
        trace_id TEXT,
        seq INTEGER,
        call INTEGER,
        attempt INTEGER,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt_tokens INTEGER,
        completion_tokens INTEGER,
        total_tokens INTEGER,
        cached_tokens INTEGER,
        reasoning_tokens INTEGER,
        cost_micros INTEGER,
        outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failed', 'interrupted')),
        success INTEGER NOT NULL,
        duration_ms INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        error_message TEXT
      )`,
      'CREATE INDEX llm_calls_trace ON llm_calls (trace_id, seq)',
      `CREATE INDEX llm_calls_time ON llm_calls (
        created_at, provider, model, profile_name, success, prompt_tokens, completion_tokens, cost_micros, duration_ms
      )`,
      `CREATE TABLE tool_invocations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        profile_name TEXT,
        trace_id TEXT,
        seq INTEGER,
        call_id TEXT,
        tool_name TEXT NOT NULL,
        success INTEGER NOT NULL,
        blocked_by TEXT,
        duration_ms INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        input_bytes INTEGER,
        input_sha256 TEXT,
        result_bytes INTEGER,
        result_sha256 TEXT,
        error_bytes INTEGER,
        error_sha256 TEXT,
        input_json TEXT,
        result_json TEXT,
        error_message TEXT
      )`,
      'CREATE INDEX tool_invocations_trace ON tool_invocations (trace_id, seq)',
      'CREATE INDEX tool_invocations_time ON tool_invocations (created_at, tool_name, success, duration_ms)',
      'CREATE INDEX tool_invocations_blocked ON tool_invocations (blocked_by, created_at) WHERE blocked_by IS NOT NULL',
    ],
  },
];
