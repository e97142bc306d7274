/** The tables of this plugin, and the only SQL that touches them. */
import type { Store } from '../../kernel/index.ts';

/** A provider as it is stored. `api_key` is sealed, in the place that `keyPlace` names. */
export interface ProviderRow {
  readonly name: string;
  readonly api_key: string | null;
  readonly base_url: string | null;
  readonly description: string | null;
}

/** Reads and writes providers. Writes reject as `Store.write` does. */
export interface ProviderRepository {
  /** All providers by name. */
  all(): Promise<readonly ProviderRow[]>;
  /** Rejects with ORYX_STORE_CONSTRAINT for a name in use. */
  add(row: ProviderRow, at: number): Promise<void>;
  /** Adds the provider unless its name is in use. */
  addMissing(row: ProviderRow, at: number): Promise<void>;
  /** Rejects with ORYX_STORE_CONFLICT when the stored provider is no longer `before`. */
  update(before: ProviderRow, after: ProviderRow, at: number): Promise<void>;
  /** Rejects with ORYX_STORE_CONFLICT when there is no such provider. */
  remove(name: string): Promise<void>;
  /** Names that the configuration has added, or found in use, at an earlier start. */
  seeded(): Promise<ReadonlySet<string>>;
  /** Adds a provider from the configuration unless its name is in use, and remembers the name. */
  seed(row: ProviderRow, at: number): Promise<void>;
}

const INSERT = 'INTO providers (name, api_key, base_url, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)';

/** @param store  a store whose tables are up to date */
export function providerRepository(store: Store): ProviderRepository {
  const inserted = ({ name, api_key, base_url, description }: ProviderRow, at: number) => [name, api_key, base_url, description, at, at];
  return {
    all: () => store.all<ProviderRow>('SELECT name, api_key, base_url, description FROM providers ORDER BY name'),
    async add(row, at) {
      await store.write({ sql: `INSERT ${INSERT}`, params: inserted(row, at) });
    },
    async addMissing(row, at) {
      await store.write({ sql: `INSERT OR IGNORE ${INSERT}`, params: inserted(row, at) });
    },
    async update(before, after, at) {
      await store.write({
        sql: `UPDATE providers SET api_key = ?, base_url = ?, description = ?, updated_at = ?
              WHERE name = ? AND api_key IS ? AND base_url IS ? AND description IS ?`,
        params: [after.api_key, after.base_url, after.description, at, before.name, before.api_key, before.base_url, before.description],
        expect: 1,
      });
    },
    async remove(name) {
      await store.write({ sql: 'DELETE FROM providers WHERE name = ?', params: [name], expect: 1 });
    },
    async seeded() {
      const rows = await store.all<{ readonly name: string }>('SELECT name FROM provider_seeds');
      return new Set(rows.map(({ name }) => name));
    },
    async seed(row, at) {
      await store.write(
        { sql: `INSERT OR IGNORE ${INSERT}`, params: inserted(row, at) },
        { sql: 'INSERT OR IGNORE INTO provider_seeds (name, seeded_at) VALUES (?, ?)', params: [row.name, at] },
      );
    },
  };
}
