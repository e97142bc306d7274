import type { Migration } from '../../kernel/index.ts';

/**
 * Tables of this plugin. A whitelist row with `removed_at` was taken out by an administrator and stays as the memory of that;
 * `sandbox_seeds` remembers which entries of the configuration have been taken over, as they were written there.
 */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_sandbox_whitelist',
    up: [
      `CREATE TABLE sandbox_whitelist (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        category TEXT NOT NULL CHECK (category IN ('FILE', 'SHELL', 'HTTP')),
        entry_value TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        removed_at INTEGER,
        UNIQUE (category, entry_value)
      )`,
      `CREATE TABLE sandbox_seeds (
        category TEXT NOT NULL,
        config_value TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (category, config_value)
      ) WITHOUT ROWID`,
    ],
  },
];
