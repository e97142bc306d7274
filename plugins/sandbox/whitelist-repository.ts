import type { Statement, Store } from '../../kernel/index.ts';

/** The three lists, as the database names them. */
export type Category = 'FILE' | 'SHELL' | 'HTTP';

/** One entry that is in force. */
export interface EntryRow {
  readonly category: Category;
  readonly entry_value: string;
}

/** Puts an entry in force, also one that was removed earlier. Changes nothing when it is in force already. */
export const entryAdded = (category: Category, value: string, at: number): Statement => ({
  sql: `INSERT INTO sandbox_whitelist (category, entry_value, created_at) VALUES (?, ?, ?)
    ON CONFLICT (category, entry_value) DO UPDATE SET created_at = excluded.created_at, removed_at = NULL WHERE removed_at IS NOT NULL`,
  params: [category, value, at],
});

/** Takes an entry out of force and remembers it. Changes nothing when it is not in force. */
export const entryRemoved = (category: Category, value: string, at: number): Statement => ({
  sql: 'UPDATE sandbox_whitelist SET removed_at = ? WHERE category = ? AND entry_value = ? AND removed_at IS NULL',
  params: [at, category, value],
});

/**
 * Takes over one entry of the configuration, once in the life of the database: not when it was taken over before, nor when an administrator removed it.
 *
 * @param configured  as it is written in the configuration
 * @param value  what it means today
 */
export const entrySeeded = (category: Category, configured: string, value: string, at: number): readonly Statement[] => [
  {
    sql: `INSERT INTO sandbox_whitelist (category, entry_value, created_at)
      SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM sandbox_seeds WHERE category = ? AND config_value = ?)
      ON CONFLICT (category, entry_value) DO NOTHING`,
    params: [category, value, at, category, configured],
  },
  {
    sql: 'INSERT INTO sandbox_seeds (category, config_value, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    params: [category, configured, at],
  },
];

/** All entries in force, in the order in which they were first added. */
export function entriesInForce(store: Store): Promise<readonly EntryRow[]> {
  return store.all<EntryRow>('SELECT category, entry_value FROM sandbox_whitelist WHERE removed_at IS NULL ORDER BY id');
}
