/** plugins/pricing/index.ts — Knows what models cost. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type { Pricing } from './contract.ts';
import { costMicrosOf } from './cost.ts';
import { migrations } from './migrations.ts';
import { PriceBook } from './price-book.ts';
import { allPrices } from './price-repository.ts';
import { pricingRoutes } from './routes.ts';
import { seedStatements } from './seeds.ts';

export default definePlugin({
  name: 'pricing',
  requires: ['store', 'http'],
  configAt: { pricing: 'oryxos.pricing' },
  config: {
    type: 'object',
    properties: {
      pricing: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            provider: { type: 'string' },
            model: { type: 'string' },
            promptPrice: { type: 'number' },
            completionPrice: { type: 'number' },
            cachedPrice: { type: ['number', 'null'] },
          },
          required: ['provider', 'model', 'promptPrice', 'completionPrice'],
          additionalProperties: false,
        },
        default: [],
      },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store } = ctx.services;
    await store.migrate(ctx.name, migrations);
    const seeds = seedStatements(ctx.config.pricing, ctx.log, ctx.clock.now());
    if (seeds.length > 0) await store.write(...seeds);
    const book = new PriceBook(store, ctx.clock, await allPrices(store));

    const pricing: Pricing = {
      name: 'pricing',
      costMicros(provider, model, usage) {
        const price = book.priceFor(provider, model);
        return price === undefined || usage === undefined ? null : costMicrosOf(price, usage);
      },
    };
    ctx.provide('pricing', pricing);
    ctx.register('pricing', pricing);
    for (const route of pricingRoutes(book, ctx.log)) ctx.register('route', route);
  },
});
