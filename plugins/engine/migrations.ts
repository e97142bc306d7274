import type { Migration } from '../../kernel/index.ts';

/** `turns` is the queue and the record of runs; `steps` is the journal that a run is resumed from. */
export const migrations: readonly Migration[] = [
  {
    name: '001_turns_and_steps',
    up: [
      `CREATE TABLE turns (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        profile_name TEXT NOT NULL,
        session_id TEXT NOT NULL,
        origin TEXT NOT NULL,
        input TEXT NOT NULL,
        persistent INTEGER NOT NULL,
        status TEXT NOT NULL,
        agent_version TEXT,
        attempts INTEGER NOT NULL,
        reply TEXT,
        stop_reason TEXT,
        error_code TEXT,
        error_message TEXT,
        accepted_at INTEGER NOT NULL,
        ended_at INTEGER
      )`,
      `CREATE INDEX turns_unfinished ON turns (seq) WHERE ended_at IS NULL`,
      `CREATE TABLE steps (
        turn_id TEXT NOT NULL,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        idempotent INTEGER NOT NULL,
        value_json TEXT,
        at INTEGER NOT NULL,
        PRIMARY KEY (turn_id, name)
      ) WITHOUT ROWID`,
    ],
  },
];
