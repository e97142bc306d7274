/** Plugins and settings over REST. */
import { defineRoute, type Route } from '../http/contract.ts';
import type { Plugins } from './contract.ts';

const TEXTS = { type: 'array', items: { type: 'string' } } as const;
const TEXT_OR_NULL = { type: ['string', 'null'] } as const;

const PLUGIN = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    version: TEXT_OR_NULL,
    source: { enum: ['builtin', 'package', 'directory'] },
    state: { enum: ['pending', 'active', 'failed'] },
    requires: TEXTS,
    missing: TEXTS,
    error: TEXT_OR_NULL,
    effects: TEXTS,
    generation: { type: 'integer' },
    warnings: TEXTS,
    trust: { ...TEXT_OR_NULL, description: 'What the code of a plugin may do; null for what is built in.' },
  },
  required: ['name', 'version', 'source', 'state', 'requires', 'missing', 'error', 'effects', 'generation', 'warnings', 'trust'],
} as const;

const SETTING = {
  type: 'object',
  properties: { key: { type: 'string' }, value: {}, origin: { type: 'string' } },
  required: ['key', 'value', 'origin'],
} as const;

/** Lists plugins, tries one again, shows the settings in effect. */
export const pluginRoutes = (plugins: Plugins): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/plugins',
    summary: 'List plugins: built-in ones, and those of the configuration, which run in the server with full access',
    kind: 'read',
    answer: { type: 'array', items: PLUGIN },
    handle: () => plugins.list(),
  }),
  defineRoute({
    name: 'POST /api/v1/plugins/{name}/retry',
    summary: 'Load a plugin again from the disk; the answer says what became of it',
    kind: 'admin',
    params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    answer: PLUGIN,
    handle: ({ params }) => plugins.retry(params.name),
  }),
  defineRoute({
    name: 'GET /api/v1/config',
    summary: 'List the settings that are in effect and where each comes from; secrets are masked',
    kind: 'read',
    answer: { type: 'array', items: SETTING },
    handle: () => plugins.settings(),
  }),
];
