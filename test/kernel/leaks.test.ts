import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { createKernel, definePlugin, systemClock, type Plugin } from '../../kernel/index.ts';
import { anyCall, toolNamed } from './kernel-fixture.ts';

const CYCLES = 50;

/** Holds one effect of every kind. */
function greedy(emitter: EventEmitter): Plugin {
  return definePlugin({
    name: 'greedy',
    setup(ctx) {
      const listener = (): void => undefined;
      emitter.on('event', listener);
      ctx.own('listener', () => void emitter.off('event', listener));
      const timer = setInterval(listener, 60_000);
      ctx.own('timer', () => clearInterval(timer));
      ctx.own('alarm', ctx.clock.after(60_000, listener));
      ctx.register('tool', toolNamed('t'));
      ctx.tap('beforeToolCall', () => undefined);
      ctx.provide('testResource', { generation: 1, use: () => undefined });
      ctx.forEach('tool', (tool, child) => void child.own(`follows ${tool.name}`, () => undefined));
      ctx.fork('job').tap('afterTurn', () => undefined);
    },
  });
}

const user = definePlugin({ name: 'user', requires: ['testResource'], setup: (ctx) => void ctx.tap('beforeTurn', () => undefined) });

describe('50 cycles of loading and unloading', () => {
  it('leave no effect, tap, item, service, listener, timer or other resource', async function () {
    this.timeout(10_000);
    const kernel = createKernel({ clock: systemClock() });
    const emitter = new EventEmitter();
    await kernel.settled();
    const before = process.getActiveResourcesInfo().toSorted();
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await kernel.load(user);
      await kernel.load(greedy(emitter));
      await kernel.replace(greedy(emitter));
      await kernel.hooks.beforeToolCall(anyCall);
      expect(kernel.status().map(({ state }) => state)).to.deep.equal(['active', 'active']);
      expect([kernel.tapCount(), emitter.listenerCount('event')]).to.deep.equal([3, 1]);
      await kernel.unload('greedy');
      await kernel.unload('user');
    }
    await kernel.settled();
    expect(kernel.status()).to.deep.equal([]);
    expect([kernel.tapCount(), kernel.registry('tool').list().length, kernel.hasService('testResource')]).to.deep.equal([0, 0, false]);
    expect(emitter.listenerCount('event')).to.equal(0);
    expect(process.getActiveResourcesInfo().toSorted()).to.deep.equal(before);
    await kernel.close();
  });
});
