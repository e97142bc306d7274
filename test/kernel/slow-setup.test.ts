import { expect } from 'chai';
import { definePlugin, type Plugin } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { anyCall, type KernelFixture, signal, startKernel, ticked, toolNamed, toolPlugin } from './kernel-fixture.ts';

/** A plugin with a tool whose setup waits. */
const waiting = (name: string, tool: string, wait: Promise<void>, log: string[] = []): Plugin =>
  definePlugin({
    name,
    async setup(ctx) {
      ctx.own('resource', () => void log.push(`${tool} closed`));
      ctx.register('tool', toolNamed(tool));
      await wait;
    },
  });

const forever = new Promise<void>(() => undefined);
const tools = ({ kernel }: KernelFixture): readonly string[] =>
  kernel
    .registry('tool')
    .list()
    .map(({ name }) => name);
const stateOf = ({ kernel }: KernelFixture, name: string): string | undefined =>
  kernel.status().find((status) => status.name === name)?.state;

/** Begins a change and lets a second pass, so that the queue goes on. */
async function begun<T>(host: KernelFixture, change: () => Promise<T>): Promise<Promise<T>[]> {
  const promise = change();
  await breathe();
  await host.clock.tick(1_000);
  return [promise];
}

describe('a setup that takes its time', () => {
  it('holds up no change of another plugin for longer than a second', async () => {
    await using host = await startKernel();
    await host.kernel.load(toolPlugin('other', 'old'));
    const since = host.clock.monotonic();
    const hung = host.kernel.load(waiting('hung', 'never', forever));
    const changes = [
      host.kernel.load(toolPlugin('new', 'new')),
      host.kernel.replace(toolPlugin('other', 'changed')),
      host.kernel.unload('new'),
    ];
    await breathe();
    await host.clock.tick(1_000);
    await Promise.all(changes);
    expect(host.clock.monotonic() - since).to.equal(1_000);
    expect([tools(host), stateOf(host, 'hung')]).to.deep.equal([['changed'], 'starting']);
    await host.clock.tick(29_000);
    expect((await hung).error).to.include({ code: 'ORYX_SETUP_TIMEOUT' });
  });

  it('is shown when it is ready, and what waits for its services starts then', async () => {
    await using host = await startKernel();
    const ready = signal();
    const provider = definePlugin({
      name: 'provider',
      async setup(ctx) {
        await ready.promise;
        ctx.provide('testResource', { generation: 1, use: () => undefined });
      },
    });
    const user = definePlugin({
      name: 'user',
      requires: ['testResource'],
      setup: (ctx) => void ctx.register('tool', toolNamed('t')),
    });
    const [loading] = await begun(host, () => host.kernel.load(provider));
    expect((await host.kernel.load(user)).missing).to.deep.equal(['testResource']);
    ready.resolve();
    expect(await loading).to.include({ state: 'active' });
    await host.kernel.settled();
    expect(tools(host)).to.deep.equal(['t']);
  });

  it('fails when its name for something was taken meanwhile', async () => {
    await using host = await startKernel();
    const ready = signal();
    const log: string[] = [];
    const [loading] = await begun(host, () => host.kernel.load(waiting('slow', 't', ready.promise, log)));
    expect((await host.kernel.load(toolPlugin('quick', 't'))).state).to.equal('active');
    ready.resolve();
    expect(await loading).to.include({ state: 'failed' });
    expect([host.kernel.registry('tool').ownerOf('t'), log]).to.deep.equal(['quick', ['t closed']]);
  });

  it('is set up again when a service that it was given has changed meanwhile', async () => {
    await using host = await startKernel();
    const resource = (generation: number): Plugin =>
      definePlugin({ name: 'provider', setup: (ctx) => void ctx.provide('testResource', { generation, use: () => undefined }) });
    const seen: number[] = [];
    const ready = signal();
    const user = definePlugin({
      name: 'user',
      requires: ['testResource'],
      async setup({ services }) {
        seen.push(services.testResource.generation);
        await ready.promise;
      },
    });
    await host.kernel.load(resource(1));
    const [loading] = await begun(host, () => host.kernel.load(user));
    await host.kernel.replace(resource(2));
    ready.resolve();
    expect(await loading).to.include({ state: 'active' });
    expect(seen).to.deep.equal([1, 2]);
  });

  it('is given up by an unload: at once, and with everything undone', async () => {
    await using host = await startKernel();
    const log: string[] = [];
    const [loading] = await begun(host, () => host.kernel.load(waiting('hung', 't', forever, log)));
    await host.kernel.unload('hung');
    expect([log, stateOf(host, 'hung')]).to.deep.equal([['t closed'], undefined]);
    expect((await loading)?.error?.message).to.equal('plugin "hung" was unloaded while it was being set up');
  });

  it('is given up also when it is ready and waits for its turn to be shown', async () => {
    await using host = await startKernel();
    const log: string[] = [];
    const [ready, free] = [signal(), signal()];
    const [loading] = await begun(host, () => host.kernel.load(waiting('slow', 't', ready.promise, log)));
    const holding = host.kernel.load(waiting('busy', 'busy', free.promise));
    await breathe();
    const unloading = host.kernel.unload('slow');
    ready.resolve();
    await breathe();
    free.resolve();
    await Promise.all([holding, unloading]);
    expect(log).to.deep.equal(['t closed']);
    expect(await loading).to.include({ state: 'failed' });
    expect(tools(host)).to.deep.equal(['busy']);
  });

  it('is given up by a replacement, which takes its place', async () => {
    await using host = await startKernel();
    const log: string[] = [];
    const [loading] = await begun(host, () => host.kernel.load(waiting('p', 'one', forever, log)));
    expect(await host.kernel.replace(toolPlugin('p', 'two')))
      .to.include({ state: 'active', generation: 2 })
      .and.not.have.property('error');
    expect(await loading).to.not.have.property('error');
    expect(host.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect([tools(host), log]).to.deep.equal([['two'], ['one closed']]);
  });

  it('lets the old one run on when it is to replace one', async () => {
    await using host = await startKernel();
    const log: string[] = [];
    const ready = signal();
    await host.kernel.load(waiting('p', 'old', Promise.resolve(), log));
    const [replacing] = await begun(host, () => host.kernel.replace(waiting('p', 'new', ready.promise, log)));
    await host.kernel.load(toolPlugin('other', 'other'));
    expect([tools(host), stateOf(host, 'p')]).to.deep.equal([['old', 'other'], 'active']);
    ready.resolve();
    expect(await replacing).to.include({ state: 'active', generation: 2 });
    expect([tools(host), log]).to.deep.equal([['other', 'new'], ['old closed']]);

    const [hung] = await begun(host, () => host.kernel.replace(waiting('p', 'newest', forever, log)));
    await host.clock.tick(30_000);
    expect(await hung).to.deep.include({ state: 'active', generation: 2 });
    expect((await hung)?.error).to.include({ code: 'ORYX_SETUP_TIMEOUT' });
    expect(tools(host)).to.deep.equal(['other', 'new']);
  });

  it('replaces what runs by then, when the old one was stopped and started meanwhile', async () => {
    await using host = await startKernel();
    const log: string[] = [];
    const ready = signal();
    const service = { generation: 1, use: () => undefined };
    const resource = definePlugin({ name: 'r', setup: (ctx) => void ctx.provide('testResource', service) });
    const user = (tool: string, wait = Promise.resolve()): Plugin =>
      definePlugin({ ...waiting('p', tool, wait, log), requires: ['testResource'] });
    await host.kernel.load(resource);
    await host.kernel.load(user('old'));
    const [replacing] = await begun(host, () => host.kernel.replace(user('new', ready.promise)));
    await host.kernel.unload('r');
    expect(tools(host)).to.deep.equal([]);
    await host.kernel.load(resource);
    ready.resolve();
    expect(await replacing).to.include({ state: 'active' });
    await host.kernel.settled();
    expect(tools(host)).to.deep.equal(['new']);
    expect(log).to.deep.equal(['old closed', 'new closed']);
  });

  it('refuses tool calls while it is that of a guard', async () => {
    await using host = await startKernel();
    const ready = signal();
    const [loading] = await begun(host, () => host.kernel.load({ ...waiting('g', 't', ready.promise), guard: true }));
    await host.kernel.load(toolPlugin('other', 'other'));
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.include({ blockedBy: 'g' });
    ready.resolve();
    await loading;
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.equal(undefined);
  });

  it('ends with the kernel, and leaves nothing behind', async () => {
    const host = await startKernel();
    const log: string[] = [];
    await host.kernel.load(waiting('p', 'old', Promise.resolve(), log));
    const [loading] = await begun(host, () => host.kernel.load(waiting('hung', 't', forever, log)));
    const [replacing] = await begun(host, () => host.kernel.replace(waiting('p', 'new', forever, log)));
    await ticked(host.clock, host.kernel.close());
    await Promise.all([loading, replacing]);
    expect(log.toSorted()).to.deep.equal(['new closed', 'old closed', 't closed']);
    expect(tools(host)).to.deep.equal([]);
  });
});
