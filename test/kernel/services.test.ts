import { expect } from 'chai';
import { definePlugin, type Disposer, type Plugin, type ServiceName } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { signal, startKernel, toolNamed, type KernelFixture, type Resource } from './kernel-fixture.ts';

const resource = (generation: number): Resource => ({ generation, use: () => undefined });

/** Provides a service and notes its life. */
function provider(
  name: string,
  service: 'testResource' | 'testDerived',
  life: string[],
  requires: readonly ServiceName[] = [],
  generation = 1,
): Plugin {
  return definePlugin({
    name,
    requires,
    setup(ctx) {
      life.push(`${name} starts`);
      ctx.own('life', () => void life.push(`${name} ends`));
      ctx.provide(service, resource(generation));
    },
  });
}

/** Uses a service and notes its life. */
function user(name: string, life: string[]): Plugin {
  return definePlugin({
    name,
    requires: ['testResource'],
    setup(ctx) {
      life.push(`${name} starts with ${ctx.services.testResource.generation}`);
      ctx.own('life', () => void life.push(`${name} ends`));
    },
  });
}

const states = ({ kernel }: KernelFixture): unknown => Object.fromEntries(kernel.status().map(({ name, state }) => [name, state]));

describe('services', () => {
  it('decide when a plugin runs: it waits for what it requires, and says what is missing', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    const status = await host.kernel.load(user('user', life));
    expect(status).to.deep.include({ state: 'pending', missing: ['testResource'], requires: ['testResource'] });
    await host.kernel.load(provider('provider', 'testResource', life));
    expect(states(host)).to.deep.include({ user: 'active', provider: 'active' });
    expect(life).to.deep.equal(['provider starts', 'user starts with 1']);
  });

  it('stop users before their provider, last loaded first, and start them again when the service is back', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    await host.kernel.load(provider('provider', 'testResource', life));
    await host.kernel.load(user('one', life));
    await host.kernel.load(user('two', life));
    life.length = 0;
    await host.kernel.unload('provider');
    expect(life).to.deep.equal(['two ends', 'one ends', 'provider ends']);
    expect(states(host)).to.deep.include({ one: 'pending', two: 'pending' });
    await host.kernel.load(provider('provider', 'testResource', life, [], 2));
    expect(life.slice(3)).to.deep.equal(['provider starts', 'one starts with 2', 'two starts with 2']);
  });

  it('carry a loss through a chain of users', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    await host.kernel.load(
      definePlugin({
        name: 'last',
        requires: ['testDerived', 'testResource'],
        setup: (ctx) => void ctx.own('x', () => void life.push('last ends')),
      }),
    );
    await host.kernel.load(provider('middle', 'testDerived', life, ['testResource']));
    await host.kernel.load(provider('base', 'testResource', life));
    expect(states(host)).to.deep.include({ base: 'active', middle: 'active', last: 'active' });
    life.length = 0;
    await host.kernel.unload('base');
    expect(life).to.deep.equal(['last ends', 'middle ends', 'base ends']);
  });

  it('exist while their last user closes', async () => {
    await using host = await startKernel();
    let isThere: boolean | undefined;
    await host.kernel.load(provider('provider', 'testResource', []));
    await host.kernel.load(
      definePlugin({
        name: 'user',
        requires: ['testResource'],
        setup(ctx) {
          ctx.own('flush', () => void (isThere = host.kernel.hasService('testResource')));
        },
      }),
    );
    await host.kernel.unload('provider');
    expect(isThere).to.equal(true);
  });

  it('have one provider: a second one fails and names both', async () => {
    await using host = await startKernel();
    await host.kernel.load(provider('first', 'testResource', []));
    const { error } = await host.kernel.load(provider('second', 'testResource', []));
    expect(error).to.have.property('code', 'ORYX_SERVICE_TAKEN');
    expect(error?.message).to.include('"first"').and.include('"second"');
    expect(states(host)).to.deep.include({ first: 'active', second: 'failed' });
  });

  it('are only those that the plugin requires', async () => {
    await using host = await startKernel();
    let names: readonly string[] = [];
    await host.kernel.load(provider('provider', 'testResource', []));
    await host.kernel.load(
      definePlugin({ name: 'user', requires: ['testResource'], setup: (ctx) => void (names = Object.keys(ctx.services)) }),
    );
    expect(names).to.deep.equal(['testResource']);
  });

  it('that come and go while their provider runs start and stop their users', async () => {
    await using host = await startKernel();
    const life: string[] = [];
    let provide: (generation: number) => Disposer = () => () => undefined;
    await host.kernel.load(
      definePlugin({
        name: 'provider',
        setup(ctx) {
          provide = (generation) => ctx.provide('testResource', resource(generation));
        },
      }),
    );
    await host.kernel.load(user('user', life));
    const withdraw = provide(1);
    await host.kernel.settled();
    expect(states(host)).to.have.property('user', 'active');
    await withdraw();
    await host.kernel.settled();
    expect(states(host)).to.have.property('user', 'pending');
    const again = provide(2);
    await host.kernel.settled();
    await again();
    provide(3);
    await host.kernel.settled();
    expect(life).to.deep.equal(['user starts with 1', 'user ends', 'user starts with 2', 'user ends', 'user starts with 3']);
  });

  it('that vanish during a setup put the plugin back to pending, with nothing left behind', async () => {
    await using host = await startKernel();
    const proceed = signal();
    let withdraw: Disposer = () => undefined;
    let isUndone = false;
    await host.kernel.load(
      definePlugin({
        name: 'provider',
        setup(ctx) {
          withdraw = ctx.provide('testResource', resource(1));
        },
      }),
    );
    const loading = host.kernel.load(
      definePlugin({
        name: 'user',
        requires: ['testResource'],
        async setup(ctx) {
          ctx.own('x', () => void (isUndone = true));
          ctx.register('tool', toolNamed('t'));
          await proceed.promise;
        },
      }),
    );
    await breathe();
    await withdraw();
    proceed.resolve();
    expect(await loading).to.deep.include({ state: 'pending', missing: ['testResource'] });
    expect(isUndone).to.equal(true);
    expect(host.kernel.registry('tool').version).to.equal(0);
  });
});
