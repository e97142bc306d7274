/** Tables of this plugin. */
import type { Migration } from '../../kernel/index.ts';

/** `providers` holds one row per provider; `api_key` is sealed with the master key and null for none. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_providers',
    up: [
      `CREATE TABLE providers (
        name TEXT PRIMARY KEY,
        api_key TEXT,
        base_url TEXT,
        description TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      )`,
      // Names that the configuration has added once: a provider that was deleted since must not come back with the next start.
      `CREATE TABLE provider_seeds (
        name TEXT PRIMARY KEY,
        seeded_at INTEGER NOT NULL
      )`,
    ],
  },
];
