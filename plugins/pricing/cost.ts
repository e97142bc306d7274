import type { Usage } from '../../kernel/index.ts';
import type { Price } from './price.ts';

/** Prices have six decimal places at most: as whole millionths they can be added up without the errors of binary fractions. */
const SCALE = 1_000_000;
const SCALE_BIG = BigInt(SCALE);

/**
 * What the usage costs at that price in millionths of the currency unit, rounded half up once at the end. Null when it is not known how many
 * tokens went in and came out. Cached tokens are part of the prompt's and reasoning tokens part of the completion's.
 */
export function costMicrosOf(price: Price, { promptTokens, completionTokens, cachedTokens }: Usage): number | null {
  if (promptTokens === null || completionTokens === null) return null;
  const { promptPrice, completionPrice, cachedPrice } = price;
  const cached = cachedPrice === null ? 0 : Math.min(cachedTokens ?? 0, promptTokens);
  // A price per million tokens is at the same time the price of one token in millionths.
  const sum = part(promptTokens - cached, promptPrice) + part(cached, cachedPrice ?? 0) + part(completionTokens, completionPrice);
  const cost = Number((sum + SCALE_BIG / 2n) / SCALE_BIG);
  return Number.isSafeInteger(cost) ? cost : null;
}

const part = (tokens: number, price: number): bigint => BigInt(Math.round(tokens)) * BigInt(Math.round(price * SCALE));
