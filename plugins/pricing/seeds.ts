import type { Logger, Statement } from '../../kernel/index.ts';
import { isOryxError } from '../../kernel/index.ts';
import { checkedPrice } from './price.ts';
import { priceSeeded } from './price-repository.ts';

/** One entry of `oryxos.pricing`. */
export interface PriceSeed {
  readonly provider: string;
  readonly model: string;
  readonly promptPrice: number;
  readonly completionPrice: number;
  readonly cachedPrice?: number | null;
}

/**
 * What adds each entry once in the life of the database: prices that an administrator changed or deleted stay so. An invalid entry is left out
 * with a warning.
 *
 * @param at  epoch milliseconds
 */
export function seedStatements(seeds: readonly PriceSeed[], log: Logger, at: number): readonly Statement[] {
  return seeds.flatMap((seed) => {
    try {
      return priceSeeded(checkedPrice({ ...seed, cachedPrice: seed.cachedPrice ?? null }), at);
    } catch (error) {
      if (!isOryxError(error)) throw error;
      log.warn('a price of the configuration is skipped', { provider: seed.provider, model: seed.model, reason: error.message });
      return [];
    }
  });
}
