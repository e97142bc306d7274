import type { Statement, Store } from '../../kernel/index.ts';

/** A key and the run that it stands for. */
export interface KeyRow {
  readonly scope: string;
  readonly key: string;
  readonly body_hash: string;
  readonly turn_id: string;
  /** Epoch milliseconds. */
  readonly created_at: number;
}

/** The row of a key, unless it was made before `expiredBefore` (epoch milliseconds). */
export function findKey(store: Store, scope: string, key: string, expiredBefore: number): Promise<KeyRow | undefined> {
  return store.get<KeyRow>('SELECT * FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at >= ?', scope, key, expiredBefore);
}

/** Adds a key; a living row of the same key fails the whole list with ORYX_STORE_CONSTRAINT, an expired one gives way. */
export const keyInserted = (row: KeyRow, expiredBefore: number): readonly Statement[] => [
  {
    sql: 'DELETE FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at < ?',
    params: [row.scope, row.key, expiredBefore],
  },
  {
    sql: 'INSERT INTO idempotency_keys (scope, key, body_hash, turn_id, created_at) VALUES (?, ?, ?, ?, ?)',
    params: [row.scope, row.key, row.body_hash, row.turn_id, row.created_at],
  },
];

/** Removes up to `limit` expired keys, oldest first. */
export const keysPruned = (expiredBefore: number, limit: number): Statement => ({
  sql: `DELETE FROM idempotency_keys WHERE (scope, key) IN (
    SELECT scope, key FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ?
  )`,
  params: [expiredBefore, limit],
});
