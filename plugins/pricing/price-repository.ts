import type { SqlValue, Statement, Store } from '../../kernel/index.ts';
import type { Price, StoredPrice } from './price.ts';

interface PriceRow {
  readonly id: number;
  readonly provider: string;
  readonly model: string;
  readonly prompt_price: number;
  readonly completion_price: number;
  readonly cached_price: number | null;
}

const INSERT = 'INSERT OR IGNORE INTO llm_pricing (provider, model, prompt_price, completion_price, cached_price, created_at, updated_at)';

/** All prices, oldest first. */
export async function allPrices(store: Store): Promise<readonly StoredPrice[]> {
  const rows = await store.all<PriceRow>(
    'SELECT id, provider, model, prompt_price, completion_price, cached_price FROM llm_pricing ORDER BY id',
  );
  return rows.map((row) => ({
    id: row.id,
    provider: row.provider,
    model: row.model,
    promptPrice: row.prompt_price,
    completionPrice: row.completion_price,
    cachedPrice: row.cached_price,
  }));
}

/** Adds a price; changes nothing when there is one for the same provider and model. */
export const priceAdded = (price: Price, at: number): Statement => ({
  sql: `${INSERT} VALUES (?, ?, ?, ?, ?, ?, ?)`,
  params: [...valuesOf(price), at, at],
});

/** Writes `after` over a price that is still `before`; changes nothing otherwise. Fails for a provider and model that have a price already. */
export const priceChanged = (before: StoredPrice, after: Price, at: number): Statement => ({
  sql: `UPDATE llm_pricing SET provider = ?, model = ?, prompt_price = ?, completion_price = ?, cached_price = ?, updated_at = ?
    WHERE id = ? AND provider = ? AND model = ? AND prompt_price = ? AND completion_price = ? AND cached_price IS ?`,
  params: [...valuesOf(after), at, before.id, ...valuesOf(before)],
});

/** Takes a price away; changes nothing when there is none. */
export const priceRemoved = (id: number): Statement => ({ sql: 'DELETE FROM llm_pricing WHERE id = ?', params: [id] });

/** Adds a price of the configuration unless it was taken over before, or there is one already, and remembers that. */
export const priceSeeded = (price: Price, at: number): readonly Statement[] => [
  {
    sql: `${INSERT}
      SELECT ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM llm_pricing_seeds WHERE provider = ? AND model = ?)`,
    params: [...valuesOf(price), at, at, price.provider, price.model],
  },
  {
    sql: 'INSERT OR IGNORE INTO llm_pricing_seeds (provider, model, seeded_at) VALUES (?, ?, ?)',
    params: [price.provider, price.model, at],
  },
];

const valuesOf = ({ provider, model, promptPrice, completionPrice, cachedPrice }: Price): readonly SqlValue[] => [
  provider,
  model,
  promptPrice,
  completionPrice,
  cachedPrice,
];
