/** The table of channels, and the only SQL that touches it. */
import type { Statement, Store } from '../../kernel/index.ts';

/** A channel as it is stored. `config` is JSON with sealed secrets. */
export interface ChannelRow {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly description: string | null;
  readonly config: string;
}

/** Reads and writes channels. Writes reject as `Store.write` does. */
export interface ChannelRepository {
  /** All channels, oldest first. */
  all(): Promise<readonly (ChannelRow & { readonly is_default: 0 | 1 })[]>;
  /** Rejects with ORYX_STORE_CONSTRAINT for a name in use. `isDefault` takes the mark from the channel that had it. */
  add(row: ChannelRow, isDefault: boolean, at: number): Promise<void>;
  /**
   * Rejects with ORYX_STORE_CONFLICT when the stored channel is no longer `before`.
   *
   * @param isDefault  undefined leaves the mark where it is; true takes it from the channel that had it
   */
  update(before: ChannelRow, after: ChannelRow, isDefault: boolean | undefined, at: number): Promise<void>;
  /** Rejects with ORYX_STORE_CONFLICT when there is no such channel. */
  remove(name: string): Promise<void>;
}

/** @param store  a store whose tables are up to date */
export function channelRepository(store: Store): ChannelRepository {
  const unmarkOthers = (name: string): Statement => ({
    sql: 'UPDATE notify_channels SET is_default = 0 WHERE is_default = 1 AND name <> ?',
    params: [name],
  });
  const valuesOf = ({ name, type, url, description, config }: ChannelRow) => [name, type, url, description, config] as const;
  return {
    all: () => store.all('SELECT name, type, url, description, config, is_default FROM notify_channels ORDER BY created_at, rowid'),
    async add(row, isDefault, at) {
      await store.write(...(isDefault ? [unmarkOthers(row.name)] : []), {
        sql: `INSERT INTO notify_channels (name, type, url, description, config, is_default, created_at, updated_at)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        params: [...valuesOf(row), isDefault ? 1 : 0, at, at],
      });
    },
    async update(before, after, isDefault, at) {
      const mark = isDefault === undefined ? null : isDefault ? 1 : 0;
      await store.write(...(isDefault ? [unmarkOthers(before.name)] : []), {
        sql: `UPDATE notify_channels
              SET type = ?, url = ?, description = ?, config = ?, is_default = coalesce(?, is_default), updated_at = ?
              WHERE name = ? AND type = ? AND url = ? AND description IS ? AND config = ?`,
        params: [after.type, after.url, after.description, after.config, mark, at, ...valuesOf(before)],
        expect: 1,
      });
    },
    async remove(name) {
      await store.write({ sql: 'DELETE FROM notify_channels WHERE name = ?', params: [name], expect: 1 });
    },
  };
}
