import { invalidInput } from '../../kernel/index.ts';

const MAX_NAME_CHARS = 128;
const MAX_PRICE = 1_000_000;
const DECIMALS = 6;

/** Prices of one model, or of all models that fit a glob, in currency units per million tokens. */
export interface Price {
  readonly provider: string;
  /** A name, or a glob: `*` stands for any characters, `?` for one. */
  readonly model: string;
  readonly promptPrice: number;
  readonly completionPrice: number;
  /** Of prompt tokens that the provider had in its cache; null: as other prompt tokens. */
  readonly cachedPrice: number | null;
}

/** A price that is kept. */
export interface StoredPrice extends Price {
  readonly id: number;
}

/** The price with its names trimmed. Throws ORYX_INVALID_INPUT for blank or long names and for amounts that are no prices. */
export function checkedPrice({ provider, model, promptPrice, completionPrice, cachedPrice }: Price): Price {
  return {
    provider: checkedName('provider', provider),
    model: checkedName('model', model),
    promptPrice: checkedAmount('promptPrice', promptPrice),
    completionPrice: checkedAmount('completionPrice', completionPrice),
    cachedPrice: cachedPrice === null ? null : checkedAmount('cachedPrice', cachedPrice),
  };
}

function checkedName(field: string, text: string): string {
  const name = text.trim();
  if (name === '') throw invalidInput(`${field} must not be blank.`);
  if (name.length > MAX_NAME_CHARS) throw invalidInput(`${field} must not be longer than ${MAX_NAME_CHARS} characters.`);
  return name;
}

function checkedAmount(field: string, amount: number): number {
  if (!(amount >= 0 && amount <= MAX_PRICE))
    throw invalidInput(`${field} must be from 0 to ${MAX_PRICE}, in currency units per million tokens.`);
  const scale = 10 ** DECIMALS;
  if (Math.round(amount * scale) / scale !== amount) throw invalidInput(`${field} must not have more than ${DECIMALS} decimal places.`);
  return amount;
}
