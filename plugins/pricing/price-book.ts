import type { Clock, Store } from '../../kernel/index.ts';
import { conflict, invalidInput, isOryxError, notFound } from '../../kernel/index.ts';
import { isGlob, matchesGlob } from './glob.ts';
import type { Price, StoredPrice } from './price.ts';
import { checkedPrice } from './price.ts';
import { priceAdded, priceChanged, priceRemoved } from './price-repository.ts';

/** The prices: kept in the database, looked up in memory. A change counts from the moment it is durable. */
export class PriceBook {
  readonly #store: Store;
  readonly #clock: Clock;
  #prices: readonly StoredPrice[];

  /** @param prices  everything that stands in the database */
  constructor(store: Store, clock: Clock, prices: readonly StoredPrice[]) {
    this.#store = store;
    this.#clock = clock;
    this.#prices = prices;
  }

  /** By provider and model. */
  list(): readonly StoredPrice[] {
    return [...this.#prices].sort((a, b) => compare(a.provider, b.provider) || compare(a.model, b.model));
  }

  /** The price of a model: that of its exact name, else that of the longest glob it fits, of equally long ones the older. */
  priceFor(provider: string, model: string): Price | undefined {
    const ofProvider = this.#prices.filter((price) => price.provider === provider);
    const exact = ofProvider.find((price) => price.model === model);
    if (exact !== undefined) return exact;
    const fitting = ofProvider.filter((price) => isGlob(price.model) && matchesGlob(price.model, model));
    return fitting.sort((a, b) => b.model.length - a.model.length || a.id - b.id)[0];
  }

  /** Throws ORYX_INVALID_INPUT for a bad field and for a model that has a price; rejects as `Store.write` does. */
  async add(input: Price): Promise<StoredPrice> {
    const price = checkedPrice(input);
    const [result] = await this.#store.write(priceAdded(price, this.#clock.now()));
    if (result?.changes !== 1) throw taken(price);
    const added = { id: result.lastInsertRowid, ...price };
    this.#prices = [...this.#prices, added].sort((a, b) => a.id - b.id);
    return added;
  }

  /**
   * Changes what `input` holds and keeps the rest. Throws ORYX_NOT_FOUND, ORYX_INVALID_INPUT as `add` does, and ORYX_CONFLICT when somebody
   * else changed the price at the same moment.
   */
  async change(id: number, input: Partial<Price>): Promise<StoredPrice> {
    const before = this.#price(id);
    const after: StoredPrice = { id, ...checkedPrice({ ...before, ...input }) };
    const [result] = await this.#store.write(priceChanged(before, after, this.#clock.now())).catch((error: unknown) => {
      throw isOryxError(error) && error.code === 'ORYX_STORE_CONSTRAINT' ? taken(after) : error;
    });
    if (result?.changes !== 1) throw conflict(`price #${id} was changed by somebody else just now: look at it and try again`);
    this.#prices = this.#prices.map((price) => (price.id === id ? after : price));
    return after;
  }

  /** Throws ORYX_NOT_FOUND; rejects as `Store.write` does. */
  async remove(id: number): Promise<void> {
    this.#price(id);
    const [result] = await this.#store.write(priceRemoved(id));
    if (result?.changes !== 1) throw missing(id);
    this.#prices = this.#prices.filter((price) => price.id !== id);
  }

  #price(id: number): StoredPrice {
    const price = this.#prices.find((each) => each.id === id);
    if (price === undefined) throw missing(id);
    return price;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const missing = (id: number): Error => notFound(`there is no price #${id}`);
const taken = ({ provider, model }: Price): Error =>
  invalidInput(`there is a price for ${provider}/${model} already: change it with PUT, or choose another model`);
