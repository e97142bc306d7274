/** Providers over REST. */
import { OryxError } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { ProviderBook } from './provider-book.ts';

const SAMPLE_MODELS = 5;
const nullable = { type: ['string', 'null'] } as const;
const nameParam = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const fields = { apiKey: nullable, baseUrl: nullable, description: nullable } as const;
const view = {
  type: 'object',
  properties: { name: { type: 'string' }, ...fields },
  required: ['name', 'apiKey', 'baseUrl', 'description'],
} as const;

/** Create, read, change, delete, list models, test. */
export const providerRoutes = (book: ProviderBook): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/providers',
    summary: 'Add a model provider',
    kind: 'admin',
    body: { type: 'object', properties: { name: { type: 'string' }, ...fields }, required: ['name'] },
    answer: view,
    handle: ({ body }) => book.create(body.name, body),
  }),
  defineRoute({
    name: 'GET /api/v1/providers',
    summary: 'List model providers by name',
    kind: 'read',
    answer: { type: 'array', items: view },
    handle: () => book.list(),
  }),
  defineRoute({
    name: 'GET /api/v1/providers/{name}',
    summary: 'Read one model provider',
    kind: 'read',
    params: nameParam,
    answer: view,
    handle: ({ params }) => book.view(params.name),
  }),
  defineRoute({
    name: 'PUT /api/v1/providers/{name}',
    summary: 'Change a model provider; an absent, blank or masked key is kept, null removes it',
    kind: 'admin',
    params: nameParam,
    body: { type: 'object', properties: fields },
    answer: view,
    handle: ({ params, body }) => book.update(params.name, body),
  }),
  defineRoute({
    name: 'DELETE /api/v1/providers/{name}',
    summary: 'Delete a model provider; agents that use it stay and answer 503',
    kind: 'admin',
    params: nameParam,
    answer: { type: 'null' },
    async handle({ params }) {
      await book.remove(params.name);
      return null;
    },
  }),
  defineRoute({
    name: 'GET /api/v1/providers/{name}/models',
    summary: 'List the models that a provider offers',
    kind: 'read',
    params: nameParam,
    answer: { type: 'array', items: { type: 'string' } },
    handle: ({ params, signal }) => modelsOf(book, params.name, signal),
  }),
  defineRoute({
    name: 'POST /api/v1/providers/{name}/test',
    summary: 'Check that a provider answers',
    kind: 'admin',
    params: nameParam,
    answer: {
      type: 'object',
      properties: { ok: { const: true }, modelCount: { type: 'integer' }, sampleModels: { type: 'array', items: { type: 'string' } } },
      required: ['ok', 'modelCount', 'sampleModels'],
    },
    async handle({ params, signal }) {
      const models = await modelsOf(book, params.name, signal);
      return { ok: true, modelCount: models.length, sampleModels: models.slice(0, SAMPLE_MODELS) };
    },
  }),
];

async function modelsOf(book: ProviderBook, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const asked = await book.provider(name).models(signal);
  if (!asked.ok) throw new OryxError('ORYX_PROVIDER_FAILED', asked.failure.message);
  return asked.models;
}
