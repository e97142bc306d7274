import type { Migration } from '../../kernel/index.ts';

/** `llm_pricing` holds the prices, `llm_pricing_seeds` which of the configuration's were taken over, so that a deleted one stays deleted. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_llm_pricing',
    up: [
      `CREATE TABLE llm_pricing (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt_price REAL NOT NULL,
        completion_price REAL NOT NULL,
        cached_price REAL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (provider, model)
      )`,
      `CREATE TABLE llm_pricing_seeds (
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        seeded_at INTEGER NOT NULL,
        PRIMARY KEY (provider, model)
      )`,
    ],
  },
];
