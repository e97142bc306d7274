/** plugins/loader/index.ts — Serves the loader: follows the configuration and the code of plugins, and shows both. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../secrets/contract.ts';
import type {} from '../watch/contract.ts';
import type { Plugins } from './contract.ts';
import { followConfiguration, followPlugins } from './follow-files.ts';
import type {} from './loader.ts';
import { pluginRoutes } from './routes.ts';
import { settingsOf } from './settings.ts';

export default definePlugin({
  name: 'loader',
  requires: ['loader', 'secrets', 'watch'],
  configAt: { plugins: 'oryxos.plugins', disable: 'oryxos.disable', unsafe: 'oryxos.unsafe' },
  config: {
    type: 'object',
    properties: {
      plugins: {
        type: 'object',
        additionalProperties: {
          type: ['object', 'null'],
          properties: { watch: { type: 'boolean' }, config: { type: 'object' } },
          additionalProperties: false,
        },
        default: {},
      },
      disable: { type: 'array', items: { type: 'string' }, default: [] },
      unsafe: { type: 'boolean', default: false },
    },
    additionalProperties: false,
  },
  setup(ctx) {
    const { loader, secrets, watch } = ctx.services;
    const masked = <T extends { readonly error: string | null }>(view: T): T => ({
      ...view,
      error: view.error === null ? null : secrets.mask(view.error),
    });
    const plugins: Plugins = {
      list: () => loader.views().map(masked),
      retry: async (name) => masked(await loader.retry(name)),
      settings: () => settingsOf(loader.configuration, secrets),
      problems: () => loader.problems().map((problem) => secrets.mask(problem)),
    };
    ctx.provide('plugins', plugins);
    for (const route of pluginRoutes(plugins)) ctx.register('route', route);
    const parts = { loader, watch, clock: ctx.clock, log: ctx.log };
    ctx.own('watch of the configuration', followConfiguration(parts));
    ctx.own('watch of plugins', followPlugins(parts));
  },
});
