import type { Migration } from '../../kernel/index.ts';

/** Tables of this plugin. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_idempotency_keys',
    up: [
      `CREATE TABLE idempotency_keys (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        body_hash TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (scope, key)
      ) WITHOUT ROWID`,
      'CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at)',
    ],
  },
];
