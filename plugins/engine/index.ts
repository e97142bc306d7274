/** The embedded engine: accepts turns durably, runs them in order, takes them up again after a crash. */
import { definePlugin } from '../../kernel/index.ts';
import { EmbeddedEngine } from './embedded-engine.ts';
import { failpointFrom } from './failpoint.ts';
import { migrations } from './migrations.ts';
import { turnRepository } from './turn-repository.ts';

export default definePlugin({
  name: 'engine',
  requires: ['store', 'history', 'profiles', 'turnLoop'],
  configAt: { maxRuns: 'oryxos.max-runs' },
  config: {
    type: 'object',
    properties: {
      maxRuns: { type: 'integer', minimum: 1, maximum: 1000, default: 32 },
      failpoint: { type: 'string', default: '' },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, history, profiles, turnLoop: loop } = ctx.services;
    await store.migrate(ctx.name, migrations);
    const { clock, log, config } = ctx;
    const failpoint = failpointFrom(config.failpoint);
    const engine = new EmbeddedEngine({
      store,
      turns: turnRepository(store),
      history,
      profiles,
      loop,
      clock,
      log,
      maxRuns: config.maxRuns,
      failpoint,
    });
    ctx.own('runs', () => engine.drain(0));
    ctx.provide('engine', engine);
  },
});
