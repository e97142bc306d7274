import type { Logger } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { PriceBook } from './price-book.ts';

const amount = { type: 'number', description: 'Currency units per million tokens.' } as const;
const cached = { type: ['number', 'null'], description: 'Of prompt tokens from the cache; null: as other prompt tokens.' } as const;
const model = {
  type: 'string',
  description: 'A name, or a glob with * and ?; a name goes before globs, a longer glob before a shorter one.',
} as const;
const fields = { provider: { type: 'string' }, model, promptPrice: amount, completionPrice: amount, cachedPrice: cached } as const;
const view = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...fields },
  required: ['id', 'provider', 'model', 'promptPrice', 'completionPrice', 'cachedPrice'],
} as const;
const idParam = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } as const;

/** Shows and changes prices. What was recorded before keeps the cost of its time. */
export const pricingRoutes = (book: PriceBook, log: Logger): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/pricing',
    summary: 'Prices by provider and model',
    kind: 'read',
    query: { type: 'object', properties: { provider: { type: 'string', description: 'Only prices of this provider.' } } },
    answer: { type: 'array', items: view },
    handle: ({ query }) => (query.provider ? book.list().filter(({ provider }) => provider === query.provider) : book.list()),
  }),
  defineRoute({
    name: 'POST /api/v1/pricing',
    summary: 'Add the price of a model',
    kind: 'admin',
    body: { type: 'object', properties: fields, required: ['provider', 'model', 'promptPrice', 'completionPrice'] },
    answer: view,
    async handle({ body }) {
      const price = await book.add({ ...body, cachedPrice: body.cachedPrice ?? null });
      log.info('a price was added', { price });
      return price;
    },
  }),
  defineRoute({
    name: 'PUT /api/v1/pricing/{id}',
    summary: 'Change a price; what is absent is kept',
    kind: 'admin',
    params: idParam,
    body: { type: 'object', properties: fields },
    answer: view,
    async handle({ params, body }) {
      const price = await book.change(params.id, body);
      log.info('a price was changed', { price });
      return price;
    },
  }),
  defineRoute({
    name: 'DELETE /api/v1/pricing/{id}',
    summary: 'Delete a price',
    kind: 'admin',
    params: idParam,
    answer: { type: 'null' },
    async handle({ params }) {
      await book.remove(params.id);
      log.info('a price was deleted', { id: params.id });
      return null;
    },
  }),
];
