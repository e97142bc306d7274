import type { Migration } from '../../kernel/index.ts';

/**
 * Tables of this plugin. `session_turns.seq` is the order of acceptance and thereby the order of the history; `starts_after` is the last
 * turn that is no longer sent to the model, kept for the session and, as it was at acceptance, for each turn.
 */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_sessions',
    up: [
      `CREATE TABLE sessions (
        session_id TEXT NOT NULL PRIMARY KEY,
        profile_name TEXT NOT NULL,
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        last_active_at INTEGER,
        archived_at INTEGER,
        message_count INTEGER NOT NULL DEFAULT 0,
        starts_after INTEGER NOT NULL DEFAULT 0
      )`,
      'CREATE INDEX sessions_profile ON sessions (profile_name)',
      'CREATE INDEX sessions_recent ON sessions (status, coalesce(last_active_at, created_at) DESC, session_id)',
      `CREATE TABLE session_turns (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        turn_id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL,
        starts_after INTEGER NOT NULL,
        ended_at INTEGER
      )`,
      'CREATE INDEX session_turns_session ON session_turns (session_id, seq)',
      `CREATE TABLE messages (
        session_id TEXT NOT NULL,
        turn_seq INTEGER NOT NULL,
        position INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        tool_name TEXT,
        tool_call_id TEXT,
        tool_calls_json TEXT,
        echo_json TEXT,
        turn_id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (session_id, turn_seq, position)
      ) WITHOUT ROWID`,
    ],
  },
  {
    name: '002_index_tool_results',
    up: ['CREATE INDEX messages_result ON messages (session_id, tool_call_id) WHERE tool_call_id IS NOT NULL'],
  },
];
