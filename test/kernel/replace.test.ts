import { expect } from 'chai';
import { definePlugin, refuse, type Context, type Disposer, type Plugin } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { anyCall, signal, startKernel, toolNamed, toolPlugin, type KernelFixture } from './kernel-fixture.ts';

/** A plugin "p" that registers tool "t" with its version as description. */
function versioned(version: string, setup: () => void | Promise<void> = () => undefined, life: string[] = []): Plugin {
  return definePlugin({
    name: 'p',
    version,
    async setup(ctx) {
      life.push(`${version} starts`);
      ctx.own('life', () => void life.push(`${version} ends`));
      ctx.register('tool', { ...toolNamed('t'), description: version });
      ctx.tap('beforeToolCall', () => refuse(version, ''));
      await setup();
    },
  });
}

const liveVersion = ({ kernel }: KernelFixture): unknown => kernel.registry('tool').get('t')?.description;

describe('replace', () => {
  it('loads a plugin that is not there', async () => {
    await using host = await startKernel();
    expect(await host.kernel.replace(versioned('1'))).to.include({ state: 'active', generation: 1 });
  });

  it('sets the new plugin up beside the old one, swaps, and closes the old one after that', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    const proceed = signal();
    await host.kernel.load(versioned('1', undefined, life));
    const replacing = host.kernel.replace(versioned('2', () => proceed.promise, life));
    await breathe();
    expect(liveVersion(host)).to.equal('1');
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', '1');
    expect(host.kernel.status().at(-1)).to.include({ state: 'active', version: '1' });
    proceed.resolve();
    expect(await replacing).to.include({ state: 'active', version: '2', generation: 2 });
    expect(liveVersion(host)).to.equal('2');
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', '2');
    expect(life).to.deep.equal(['1 starts', '2 starts', '1 ends']);
  });

  it('lets listeners hear of a swap when all of it is done', async () => {
    await using host = await startKernel();
    const seen: string[] = [];
    await host.kernel.load(versioned('1'));
    void host.kernel.registry('tool').onChange((change, { description }) => {
      seen.push(`${change} ${String(description)}, live ${String(liveVersion(host))}, ${host.kernel.tapCount()} tap`);
    });
    await host.kernel.replace(versioned('2'));
    expect(seen).to.deep.equal(['removed 1, live 2, 1 tap', 'added 2, live 2, 1 tap']);
  });

  it('closes the old plugin only when its calls in flight have ended, while new calls go on', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    const work = signal();
    await host.kernel.load(versioned('1', undefined, life));
    const use = host.kernel.registry('tool').use('t', 'tool t', () => work.promise);
    const replacing = host.kernel.replace(versioned('2', undefined, life));
    await breathe();
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', '2');
    expect(life).to.deep.equal(['1 starts', '2 starts']);
    expect(host.kernel.status().at(-1)).to.include({ state: 'active', version: '2' });
    work.resolve();
    await Promise.all([use, replacing]);
    expect(life).to.deep.equal(['1 starts', '2 starts', '1 ends']);
  });

  it('lets the old plugin go on when the new one fails, and says why', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    await host.kernel.load(versioned('1', undefined, life));
    const status = await host.kernel.replace(
      versioned(
        '2',
        () => {
          throw new Error('bad release');
        },
        life,
      ),
    );
    expect(status).to.include({ state: 'active', version: '1', generation: 1 });
    expect(status.error?.message).to.include('bad release');
    expect(liveVersion(host)).to.equal('1');
    expect(life).to.deep.equal(['1 starts', '2 starts', '2 ends']);
    expect((await host.kernel.replace(versioned('3'))).error).to.equal(undefined);
  });

  it('lets the old plugin go on when the configuration is wrong, a service is missing, or a name is taken', async () => {
    await using host = await startKernel();
    await host.kernel.load(toolPlugin('other', 'taken'));
    await host.kernel.load(versioned('1'));
    const strict = definePlugin({ name: 'p', config: { type: 'object', additionalProperties: false }, setup: () => undefined });
    expect((await host.kernel.replace(strict, { x: 1 })).error).to.have.property('code', 'ORYX_PLUGIN_CONFIG');
    expect((await host.kernel.replace(definePlugin({ name: 'p', requires: ['engine'], setup: () => undefined }))).error).to.include({
      code: 'ORYX_SERVICE_MISSING',
      message: 'plugin "p" requires engine',
    });
    expect((await host.kernel.replace(toolPlugin('p', 'taken'))).error).to.have.property('code', 'ORYX_NAME_TAKEN');
    expect(liveVersion(host)).to.equal('1');
    expect(host.kernel.registry('tool').ownerOf('taken')).to.equal('other');
  });

  it('lets the old plugin go on when a name that the new one needs is taken during its setup', async () => {
    await using host = await startKernel();
    const proceed = signal();
    let register: (name: string) => void = () => undefined;
    await host.kernel.load(
      definePlugin({ name: 'live', setup: (ctx) => void (register = (name) => void ctx.register('tool', toolNamed(name))) }),
    );
    await host.kernel.load(versioned('1'));
    const replacing = host.kernel.replace(
      definePlugin({
        name: 'p',
        async setup(ctx) {
          ctx.register('tool', toolNamed('t'));
          ctx.register('tool', toolNamed('extra'));
          await proceed.promise;
        },
      }),
    );
    await breathe();
    register('extra');
    proceed.resolve();
    expect((await replacing).error).to.have.property('code', 'ORYX_NAME_TAKEN');
    expect(liveVersion(host)).to.equal('1');
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', '1');
  });

  it('lets the old plugin go on when a service that the new one needs vanishes during its setup', async () => {
    await using host = await startKernel();
    const proceed = signal();
    let withdraw: Disposer = () => undefined;
    const setup = (ctx: Context): void => {
      withdraw = ctx.provide('testResource', { generation: 1, use: () => undefined });
    };
    await host.kernel.load(definePlugin({ name: 'source', setup }));
    await host.kernel.load(versioned('1'));
    const replacing = host.kernel.replace(definePlugin({ name: 'p', requires: ['testResource'], setup: () => proceed.promise }));
    await breathe();
    await withdraw();
    proceed.resolve();
    expect(await replacing).to.deep.include({ state: 'active', version: '1', requires: [] });
    expect(liveVersion(host)).to.equal('1');
  });

  it('restarts users of a changed service in the same swap: none of their taps is missing for a moment', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    const proceed = signal();
    await host.kernel.load(storeLike(1, life));
    await host.kernel.load(userOf(life));
    const replacing = host.kernel.replace(storeLike(2, life, () => proceed.promise));
    await breathe();
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', 'user of 1');
    const taps: number[] = [];
    void host.kernel.registry('tool').onChange(() => void taps.push(host.kernel.tapCount()));
    proceed.resolve();
    await replacing;
    expect(await host.kernel.hooks.beforeToolCall(anyCall)).to.have.property('blockedBy', 'user of 2');
    expect(taps).to.deep.equal([1, 1]);
    expect(life).to.deep.equal([
      'store 1 starts',
      'user of 1 starts',
      'store 2 starts',
      'user of 2 starts',
      'user of 1 ends',
      'store 1 ends',
    ]);
    expect(host.kernel.status().at(-1)).to.include({ name: 'user', state: 'active', generation: 1 });
  });

  it('leaves users alone when the service stays the same', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    const service = { generation: 1, use: () => undefined };
    const same = definePlugin({ name: 'store', setup: (ctx) => void ctx.provide('testResource', service) });
    await host.kernel.load(same);
    await host.kernel.load(userOf(life));
    await host.kernel.replace(same);
    expect(life).to.deep.equal(['user of 1 starts']);
  });

  it('stops users of a service that the new plugin no longer provides', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    await host.kernel.load(storeLike(1, life));
    await host.kernel.load(userOf(life));
    await host.kernel.replace(definePlugin({ name: 'store', setup: () => undefined }));
    expect(host.kernel.status().at(-1)).to.deep.include({ name: 'user', state: 'pending', missing: ['testResource'] });
    expect(life.slice(2)).to.deep.equal(['user of 1 ends', 'store 1 ends']);
  });

  it('starts a user after its old run when it cannot be set up beside it', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    let isPortTaken = false;
    await host.kernel.load(storeLike(1, life));
    await host.kernel.load(
      definePlugin({
        name: 'user',
        requires: ['testResource'],
        setup(ctx) {
          if (isPortTaken) throw new Error('port in use');
          isPortTaken = true;
          ctx.own('port', () => void (isPortTaken = false));
          life.push(`user of ${ctx.services.testResource.generation}`);
        },
      }),
    );
    await host.kernel.replace(storeLike(2, life));
    expect(host.kernel.status().at(-1)).to.include({ name: 'user', state: 'active' });
    expect(life).to.deep.equal(['store 1 starts', 'user of 1', 'store 2 starts', 'store 1 ends', 'user of 2']);
  });

  it('lets calls go on while a setup takes its time', async () => {
    await using host = await startKernel();
    const proceed = signal();
    await host.kernel.load(versioned('1'));
    const loading = host.kernel.load(definePlugin({ name: 'slow', setup: () => proceed.promise }));
    await breathe();
    for (let call = 0; call < 100; call += 1) await host.kernel.hooks.beforeToolCall(anyCall);
    expect(await host.kernel.registry('tool').use('t', 'tool t', () => 'used')).to.equal('used');
    proceed.resolve();
    await loading;
  });
});

function storeLike(generation: number, life: string[], setup: () => void | Promise<void> = () => undefined): Plugin {
  return definePlugin({
    name: 'store',
    async setup(ctx) {
      life.push(`store ${generation} starts`);
      ctx.own('life', () => void life.push(`store ${generation} ends`));
      ctx.provide('testResource', { generation, use: () => undefined });
      await setup();
    },
  });
}

function userOf(life: string[]): Plugin {
  return definePlugin({
    name: 'user',
    requires: ['testResource'],
    setup(ctx) {
      const self = `user of ${ctx.services.testResource.generation}`;
      life.push(`${self} starts`);
      ctx.own('life', () => void life.push(`${self} ends`));
      ctx.register('tool', toolNamed('t'));
      ctx.tap('beforeToolCall', () => refuse(self, ''));
    },
  });
}
