import { expect } from 'chai';
import { definePlugin, type Plugin } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { startKernel } from './kernel-fixture.ts';

interface Config {
  readonly limit: number;
  readonly names: readonly string[];
  readonly path: string;
}

interface Seen {
  setups: number;
  read: () => Config;
  readonly told: Config[];
  react: (config: Config) => void | Promise<void>;
}

const watched = (): Seen => ({ setups: 0, read: () => ({ limit: 0, names: [], path: '' }), told: [], react: () => undefined });

const plugin = (seen: Seen): Plugin =>
  definePlugin({
    name: 'p',
    config: {
      type: 'object',
      properties: {
        limit: { type: 'integer', minimum: 1, default: 1 },
        names: { type: 'array', items: { type: 'string' }, default: [] },
        path: { type: 'string', default: '/' },
      },
      additionalProperties: false,
    },
    live: ['limit', 'names'],
    setup(ctx) {
      seen.setups += 1;
      const child = ctx.fork('child');
      seen.read = () => {
        expect(child.config).to.equal(ctx.config);
        return ctx.config;
      };
      ctx.onConfig((config) => {
        seen.told.push(config);
        return seen.react(config);
      });
    },
  });

describe('live settings', () => {
  it('reach a plugin that runs on: in ctx.config, frozen and with defaults, and told to those who listen', async () => {
    await using host = await startKernel();
    const seen = watched();
    const p = plugin(seen);
    await host.kernel.load(p, { limit: 2 });
    const before = seen.read();
    expect(await host.kernel.replace(p, { limit: 3, names: ['a'] })).to.include({ state: 'active', generation: 1 });
    expect(seen.read()).to.deep.equal({ limit: 3, names: ['a'], path: '/' });
    expect(Object.isFrozen(seen.read().names)).to.equal(true);
    expect(before).to.deep.equal({ limit: 2, names: [], path: '/' });
    expect(seen.told).to.deep.equal([seen.read()]);
    expect(seen.setups).to.equal(1);
  });

  it('are there again when the plugin is set up anew', async () => {
    await using host = await startKernel();
    const seen = watched();
    const p = { ...plugin(seen), requires: ['testResource' as const] };
    const resource = definePlugin({ name: 'r', setup: (ctx) => void ctx.provide('testResource', { generation: 1, use: () => undefined }) });
    await host.kernel.load(resource);
    await host.kernel.load(p, { limit: 2 });
    await host.kernel.replace(p, { limit: 3 });
    await host.kernel.replace(resource);
    expect([seen.setups, seen.read().limit]).to.deep.equal([2, 3]);
  });

  it('are one of the ways: another setting, and another plugin object, mean a new setup', async () => {
    await using host = await startKernel();
    const seen = watched();
    const p = plugin(seen);
    await host.kernel.load(p);
    expect(await host.kernel.replace(p, { limit: 2, path: '/x' })).to.include({ generation: 2 });
    expect(await host.kernel.replace(plugin(seen), { limit: 3, path: '/x' })).to.include({ generation: 3 });
    expect([seen.setups, seen.told.length]).to.deep.equal([3, 0]);
  });

  it('that are not valid change nothing', async () => {
    await using host = await startKernel();
    const seen = watched();
    const p = plugin(seen);
    await host.kernel.load(p, { limit: 2 });
    const { state, error } = await host.kernel.replace(p, { limit: 0 });
    expect([state, error?.message]).to.deep.equal(['active', 'the configuration of plugin "p" is wrong: limit must be at least 1']);
    expect([seen.read().limit, seen.told.length, seen.setups]).to.deep.equal([2, 0, 1]);
    expect(await host.kernel.replace(p, { limit: 2 })).not.to.have.property('error');
  });

  it('that a plugin cannot take are taken back: it throws, or does not answer within 5 s', async () => {
    await using host = await startKernel();
    const seen = watched();
    const p = plugin(seen);
    await host.kernel.load(p);
    seen.react = ({ limit }) => {
      if (limit === 2) throw new Error('two is too much');
    };
    expect((await host.kernel.replace(p, { limit: 2 })).error?.message).to.equal('two is too much');
    expect([seen.read().limit, seen.told.map(({ limit }) => limit)]).to.deep.equal([1, [2, 1]]);
    seen.react = ({ limit }) => (limit === 3 ? new Promise<void>(() => undefined) : undefined);
    const changing = host.kernel.replace(p, { limit: 3 });
    await breathe();
    await host.clock.tick(5_000);
    expect((await changing).error?.message).to.include('within 5 s');
    expect(seen.read().limit).to.equal(1);
  });
});
