/** What the short and the long storm do. */
import { expect } from 'chai';
import type { ToolResult } from '../../../kernel/index.ts';
import { definePlugin } from '../../../kernel/index.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';
import { pluginCode, pluginFiles, pluginsYaml, untilPlugin, viewOf } from './plugin-files.ts';

interface Counts {
  unguarded: number;
  usedAfterClose: number;
  ran: number;
}

/** Plugins on the disk count here; the storm resets it. */
const COUNTS = 'pluginStormCounts';

const resource = (): string => `let open = true; ctx.own('resource', () => { open = false; });
  const counts = globalThis.${COUNTS};
  const use = async () => { await new Promise((done) => setImmediate(done)); if (!open) counts.usedAfterClose += 1; };`;

/** A guard that refuses every call of `forbidden`. While it is loaded and not active, nothing runs. */
const guard = (edit: number): string =>
  pluginCode(
    'storm-guard',
    `${resource()} ctx.tap('beforeToolCall', async (call) => { await use(); return call.tool.name === 'forbidden' ? refuse('storm-guard', 'forbidden, ${edit}') : undefined; });`,
    'guard: true,',
  );

const tools = (edit: number): string =>
  pluginCode(
    'storm-tools',
    `${resource()}
    const tool = (name, effect) => defineTool({ name, description: '', input: { type: 'object' }, async execute() { await use(); effect(); return ok('${edit}'); } });
    ctx.register('tool', tool('forbidden', () => { counts.unguarded += 1; }));
    ctx.register('tool', tool('fine', () => { counts.ran += 1; }));`,
  );

/** A plugin of its own for loads and unloads, with one of everything. */
const visitor = pluginCode(
  'storm-visitor',
  `${resource()} const timer = setInterval(() => { if (!open) counts.usedAfterClose += 1; }, 5); ctx.own('timer', () => clearInterval(timer));
  ctx.tap('beforeToolCall', async () => { await use(); return undefined; });
  ctx.register('tool', defineTool({ name: 'visit', description: '', input: { type: 'object' }, async execute() { await use(); return ok('visited'); } }));
  ctx.register('route', defineRoute({ name: 'GET /api/v1/visitor', summary: '', kind: 'read', handle: async () => { await use(); return 'hello'; } }));`,
);

/**
 * Swaps plugins by editing files and configuration while `workers` runs go on all the time; fails when a promise is broken. Resolves with what
 * it counted.
 */
export async function pluginStorm({
  loads,
  edits,
  workers,
}: Readonly<Record<'loads' | 'edits' | 'workers', number>>): Promise<Counts & { readonly calls: number }> {
  const counts: Counts = { unguarded: 0, usedAfterClose: 0, ran: 0 };
  Reflect.set(globalThis, COUNTS, counts);
  const results: ToolResult[] = [];
  const observer = definePlugin({
    name: 'storm-observer',
    setup: (ctx) =>
      void ctx.tap('afterToolCall', (rows, _call, result) => {
        results.push(result);
        return rows;
      }),
  });
  const base = { 'storm-guard': {}, 'storm-tools': {} };
  const extra = 'tools: [forbidden, fine, visit]\nsettings: {on_fatal_tool_error: feedback, max_iterations: 4}';
  const files = {
    ...pluginFiles('storm-guard', guard(0)),
    ...pluginFiles('storm-tools', tools(0)),
    ...pluginFiles('storm-visitor', visitor),
  };
  await using host = await startHost({
    agents: { t: agentFile('t', extra) },
    files: { ...files, 'application.yml': pluginsYaml(base) },
    plugins: [observer],
  });
  host.model.always(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: 'done' }
      : { calls: [{ name: 'forbidden' }, { name: 'fine' }, { name: 'visit' }, { name: 'forbidden' }] },
  );
  const picture = (): unknown => ({
    taps: host.kernel.tapCount(),
    items: (['tool', 'route', 'promptPart'] as const).map((point) => host.kernel.registry(point).list().length),
    effects: host.kernel.status().map(({ name, effects }) => [name, effects.children.length]),
  });
  const resources = (): number => process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length;
  const before = { picture: picture(), resources: resources() };

  let working = true;
  let calls = 0;
  const work = Array.from({ length: workers }, async () => {
    while (working) {
      const outcome = await host.say('t', 'go');
      expect(outcome.reply).to.equal('done');
      calls += 4;
    }
  });
  const generation = async (name: string): Promise<number> => (await viewOf(host, name))?.generation ?? 0;
  const editing = async (): Promise<void> => {
    for (let edit = 1; edit <= edits; edit += 1) {
      const [name, code] = edit % 2 === 0 ? (['storm-guard', guard] as const) : (['storm-tools', tools] as const);
      const last = await generation(name);
      await host.write(`plugins/${name}/index.js`, code(edit));
      await untilPlugin(host, name, `takes edit ${edit}`, (view) => view.generation > last && view.state === 'active', 30_000);
    }
  };
  const loading = async (): Promise<void> => {
    for (let load = 1; load <= loads; load += 1) {
      await host.write('application.yml', pluginsYaml({ ...base, 'storm-visitor': {} }));
      await untilPlugin(host, 'storm-visitor', `comes, time ${load}`, ({ state }) => state === 'active', 30_000);
      await host.write('application.yml', pluginsYaml(base));
      await until(`the visitor to go, time ${load}`, async () => (await viewOf(host, 'storm-visitor')) === undefined, 30_000);
    }
  };
  try {
    await Promise.all([editing(), loading()]);
  } finally {
    working = false;
    await Promise.all(work);
  }
  expect(counts).to.include({ unguarded: 0, usedAfterClose: 0 });
  expect(counts.ran).to.be.greaterThan(0);
  expect(results).to.have.length(calls);
  const refused = results.filter((result) => !result.success && result.blockedBy === 'storm-guard').length;
  expect(refused).to.be.at.least(calls / 2);
  expect(picture()).to.deep.equal(before.picture);
  await until('handles to close', () => resources() <= before.resources);
  for (const name of ['storm-guard', 'storm-tools'])
    expect((await viewOf(host, name))?.warnings.filter((text) => text.includes('open'))).to.deep.equal([]);
  Reflect.deleteProperty(globalThis, COUNTS);
  return { ...counts, calls };
}
