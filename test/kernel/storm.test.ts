import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createKernel,
  definePlugin,
  refuse,
  systemClock,
  type KernelHost,
  type Plugin,
  type Statement,
  type ToolCall,
  type ToolCallRecord,
} from '../../kernel/index.ts';
import { toolNamed } from './kernel-fixture.ts';

const STORM_MS = 1_500;
const WORKERS = 20;

interface Tally {
  calls: number;
  swaps: number;
  closed: number;
  unguarded: number;
  usedAfterClose: number;
  unaudited: number;
  toolless: number;
}

const jitter = (ms: number): Promise<void> => pause(Math.random() * ms);

function storeLike(tally: Tally): Plugin {
  return definePlugin({
    name: 'store',
    async setup(ctx) {
      await jitter(3);
      let isOpen = true;
      ctx.own('database', () => {
        isOpen = false;
        tally.closed += 1;
      });
      ctx.provide('testResource', {
        generation: tally.swaps,
        use: () => {
          if (!isOpen) tally.usedAfterClose += 1;
        },
      });
    },
  });
}

const policyLike: Plugin = definePlugin({
  name: 'policy',
  guard: true,
  requires: ['testResource'],
  async setup(ctx) {
    await jitter(3);
    const { testResource } = ctx.services;
    ctx.tap('beforeToolCall', async () => {
      await jitter(3);
      testResource.use();
      return refuse('policy', 'no');
    });
    ctx.register('tool', {
      ...toolNamed('probe'),
      execute: async () => {
        await jitter(2);
        testResource.use();
        return { success: true, content: '' };
      },
    });
  },
});

const auditLike: Plugin = definePlugin({
  name: 'audit',
  guard: true,
  requires: ['testResource'],
  async setup(ctx) {
    await jitter(3);
    const { testResource } = ctx.services;
    const record = async (rows: readonly Statement[]): Promise<readonly Statement[]> => {
      await jitter(2);
      testResource.use();
      return [...rows, { sql: 'audit', params: [] }];
    };
    ctx.tap('afterToolCall', record, { required: true });
  },
});

async function work(kernel: KernelHost, tally: Tally, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    tally.calls += 1;
    const refusal = await kernel.hooks.beforeToolCall({ id: String(tally.calls) } as ToolCall);
    if (refusal?.blockedBy !== 'policy') tally.unguarded += 1;
    const result = await kernel.registry('tool').use('probe', 'tool probe', (tool) => tool.execute({}, {} as never));
    if (!result) tally.toolless += 1;
    const rows = await kernel.hooks.afterToolCall([], {} as ToolCallRecord, { success: true, content: '' }, 1);
    if (rows.length !== 1) tally.unaudited += 1;
  }
}

describe('swapping plugins under load', () => {
  it('leaves no call unguarded, none unaudited, and nothing used after it was closed', async function () {
    this.timeout(10_000);
    const tally: Tally = { calls: 0, swaps: 0, closed: 0, unguarded: 0, usedAfterClose: 0, unaudited: 0, toolless: 0 };
    const clock = systemClock();
    const kernel = createKernel({ clock });
    for (const plugin of [storeLike(tally), policyLike, auditLike]) await kernel.load(plugin);
    const since = clock.monotonic();
    const isOver = (): boolean => clock.monotonic() - since > STORM_MS;
    const swapper = async (): Promise<void> => {
      while (!isOver()) {
        const plugin = [storeLike(tally), policyLike, auditLike][tally.swaps % 3];
        tally.swaps += 1;
        if (plugin) expect((await kernel.replace(plugin)).error).to.equal(undefined);
        await jitter(5);
      }
    };
    await Promise.all([...Array.from({ length: WORKERS }, () => work(kernel, tally, isOver)), swapper()]);
    await kernel.close();

    const { calls, swaps, closed, ...faults } = tally;
    expect(faults).to.deep.equal({ unguarded: 0, usedAfterClose: 0, unaudited: 0, toolless: 0 });
    expect([calls > 500, swaps > 20, closed > 5]).to.deep.equal([true, true, true]);
  });
});
