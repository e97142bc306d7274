import { expect } from 'chai';
import { definePlugin, type Plugin, type Refusal } from '../../kernel/index.ts';
import { breathe } from '../harness/fake-clock.ts';
import { anyCall, signal, startKernel, type KernelFixture } from './kernel-fixture.ts';

const guard = (setup: () => void | Promise<void> = () => undefined): Plugin =>
  definePlugin({ name: 'sandbox', guard: true, requires: ['testResource'], setup });
const store = definePlugin({ name: 'store', setup: (ctx) => void ctx.provide('testResource', { generation: 1, use: () => undefined }) });

const refusals = async ({ kernel }: KernelFixture): Promise<readonly (Refusal | undefined)[]> => [
  await kernel.hooks.beforeToolCall(anyCall),
  await kernel.hooks.onClaim({ kind: 'file', value: '/x' }, anyCall),
];
const none = [undefined, undefined];

describe('the guard rule', () => {
  it('refuses tool calls and claims while a guard is loaded and waits for a service', async () => {
    await using host = await startKernel();
    expect(await refusals(host)).to.deep.equal(none);
    await host.kernel.load(guard());
    expect((await refusals(host)).map((refusal) => refusal?.blockedBy)).to.deep.equal(['sandbox', 'sandbox']);
    await host.kernel.load(store);
    expect(await refusals(host)).to.deep.equal(none);
    await host.kernel.unload('store');
    expect((await refusals(host))[0]?.message).to.equal('the guard "sandbox" is pending; no tool runs until it is active');
    await host.kernel.unload('sandbox');
    expect(await refusals(host)).to.deep.equal(none);
  });

  it('refuses while a guard is starting, has failed, or is stopping', async () => {
    await using host = await startKernel();
    const proceed = signal();
    await host.kernel.load(store);
    const loading = host.kernel.load(
      guard(async () => {
        await proceed.promise;
        throw new Error('no');
      }),
    );
    await breathe();
    expect((await refusals(host))[0]?.message).to.include('starting');
    proceed.resolve();
    await loading;
    expect((await refusals(host))[0]?.message).to.include('failed');

    const slow = signal();
    await host.kernel.replace(
      definePlugin({
        name: 'sandbox',
        guard: true,
        setup(ctx) {
          ctx.own('slow', () => slow.promise);
        },
      }),
    );
    const unloading = host.kernel.unload('sandbox');
    await breathe();
    expect((await refusals(host))[0]?.message).to.include('stopping');
    slow.resolve();
    await unloading;
  });

  it('asks before every tap, whatever its stage', async () => {
    await using host = await startKernel();
    let isAsked = false;
    await host.kernel.load(
      definePlugin({
        name: 'eager',
        setup: (ctx) =>
          void ctx.tap(
            'beforeToolCall',
            () => {
              isAsked = true;
              return undefined;
            },
            { stage: -1e9 },
          ),
      }),
    );
    await host.kernel.load(guard());
    await refusals(host);
    expect(isAsked).to.equal(false);
  });

  it('holds until the host has closed', async () => {
    const host = await startKernel();
    const slow = signal();
    await host.kernel.load(definePlugin({ name: 'first', setup: (ctx) => void ctx.own('slow', () => slow.promise) }));
    await host.kernel.load(store);
    await host.kernel.load(guard());
    const closing = host.kernel.close();
    await breathe();
    expect((await refusals(host))[0]?.blockedBy).to.equal('sandbox');
    slow.resolve();
    await closing;
  });
});
