/** Guards, tools and observers are swapped while agents work: no call goes unguarded, nothing is used after it has closed. */
import { expect } from 'chai';
import { definePlugin, defineTool, ok, type Plugin, refuse } from '../kernel/index.ts';
import sandbox from '../plugins/sandbox/index.ts';
import { agentFile, startHost } from './harness/index.ts';

interface Counts {
  unguarded: number;
  refused: number;
  usedAfterClose: number;
  observed: number;
  ran: number;
}

/** Refuses every call of `forbidden`, through a resource that must be open. */
const guard = (counts: Counts): Plugin =>
  definePlugin({
    name: 'storm-guard',
    guard: true,
    setup(ctx) {
      let open = true;
      ctx.own('resource', () => {
        open = false;
      });
      ctx.tap('beforeToolCall', async (call) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (!open) counts.usedAfterClose += 1;
        return call.tool.name === 'forbidden' ? refuse('storm-guard', 'forbidden is forbidden') : undefined;
      });
    },
  });

const observer = (counts: Counts): Plugin =>
  definePlugin({
    name: 'storm-observer',
    setup(ctx) {
      let open = true;
      ctx.own('resource', () => {
        open = false;
      });
      ctx.tap(
        'afterToolCall',
        async (rows, _call, result) => {
          await new Promise((resolve) => setImmediate(resolve));
          if (!open) counts.usedAfterClose += 1;
          counts.observed += 1;
          if (!result.success && result.blockedBy === 'storm-guard') counts.refused += 1;
          return rows;
        },
        { required: true },
      );
    },
  });

const tools = (counts: Counts): Plugin =>
  definePlugin({
    name: 'storm-tools',
    setup(ctx) {
      let open = true;
      ctx.own('resource', () => {
        open = false;
      });
      const tool = (name: string, effect: () => void): Parameters<typeof defineTool>[0] => ({
        name,
        description: name,
        input: { type: 'object' },
        async execute() {
          await new Promise((resolve) => setImmediate(resolve));
          if (!open) counts.usedAfterClose += 1;
          effect();
          return ok(name);
        },
      });
      ctx.register('tool', defineTool(tool('forbidden', () => void (counts.unguarded += 1))));
      ctx.register('tool', defineTool(tool('fine', () => void (counts.ran += 1))));
    },
  });

describe('a storm of swaps', () => {
  it('lets no call pass unguarded, uses nothing after its close and loses no observation', async function () {
    this.timeout(60_000);
    const counts: Counts = { unguarded: 0, refused: 0, usedAfterClose: 0, observed: 0, ran: 0 };
    const all = [guard(counts), observer(counts), tools(counts)];
    const extra = 'tools: [forbidden, fine]\nsettings: {on_fatal_tool_error: feedback, max_iterations: 4}';
    await using host = await startHost({ agents: { t: agentFile('t', extra) }, plugins: all });
    host.model.always(({ messages }) => {
      const done = messages.some(({ role }) => role === 'tool');
      return done ? { content: 'done' } : { calls: [{ name: 'forbidden' }, { name: 'fine' }, { name: 'forbidden' }] };
    });
    let working = true;
    let calls = 0;
    const workers = Array.from({ length: 20 }, async () => {
      while (working) {
        const outcome = await host.say('t', 'go');
        expect(outcome.reply).to.equal('done');
        calls += 3;
      }
    });
    const config = { allowedPaths: [], protect: true, allowedCommands: [], allowedDomains: [] };
    for (let swap = 0; swap < 60; swap += 1) {
      const fresh = [guard(counts), observer(counts), tools(counts)][swap % 3];
      if (fresh) expect((await host.kernel.replace(fresh)).state).to.equal('active');
      if (swap % 10 === 0) await host.kernel.replace(sandbox, config);
    }
    working = false;
    await Promise.all(workers);
    expect(counts).to.include({ unguarded: 0, usedAfterClose: 0 });
    expect(counts.observed).to.equal(calls);
    expect(counts.refused).to.be.greaterThan(0);
  });
});
