/** Plugins that are at fault: each as a package of the workspace, loaded by the front door. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentFile, fakeClock, startHost, type TestHost, until } from '../harness/index.ts';
import { callTool, pluginCode, pluginFiles, pluginsYaml, tool, untilPlugin, viewOf } from '../plugins/loader/plugin-files.ts';
import type { RunCase } from './corpus.ts';
import { listOf } from './corpus.ts';
import { holds } from './holds.ts';

const MIB = 2 ** 20;
const agents = { a1: agentFile('a1', 'tools: [current_time, read_file, one, good]\nsettings: {on_fatal_tool_error: feedback}') };
const good = pluginFiles('good', pluginCode('good', tool('good', 'good')));

/** A host with the plugin `px`, which has this code, and one that is as it should be. */
const hostWith = (code: string, manifest: Readonly<Record<string, unknown>> = {}): Promise<TestHost> =>
  startHost({ agents, files: { ...pluginFiles('px', code, manifest), ...good, 'application.yml': pluginsYaml({ px: {}, good: {} }) } });

/** The server, the other plugin and the built-in tools go on. */
async function expectOthersWork(host: TestHost): Promise<void> {
  expect((await host.request('GET', '/api/v1/health')).status).to.equal(200);
  expect(await viewOf(host, 'good')).to.include({ state: 'active' });
  expect(await callTool(host, 'a1', 'good')).to.equal('good');
  expect(await callTool(host, 'a1', 'current_time', { timezone: 'UTC' })).to.match(/^\d{4}-/);
}

const clash = holds(async () => {
  const files = {
    ...pluginFiles('px', pluginCode('px', tool('one', 'directory')), { version: '2.0.0' }),
    'plugins/node_modules/px/package.json': '{"name": "px", "version": "1.0.0", "type": "module", "main": "index.js"}',
    'plugins/node_modules/px/index.js': pluginCode('px', tool('one', 'package')),
    ...good,
    'application.yml': pluginsYaml({ px: {}, good: {} }),
  };
  for (let time = 0; time < 2; time += 1) {
    await using host = await startHost({ agents, files });
    const view = await viewOf(host, 'px');
    expect(view).to.include({ version: '1.0.0', state: 'active' });
    expect(view?.warnings.join()).to.include('1.0.0').and.include('2.0.0');
    expect(await callTool(host, 'a1', 'one')).to.equal('package');
    await expectOthersWork(host);
  }
});

/** The 30 s of a plugin that hangs are real, or those of a clock that is moved. */
const hangs = (real: boolean): RunCase =>
  holds(async () => {
    const clock = real ? undefined : fakeClock();
    const files = { ...pluginFiles('px', 'await new Promise(() => {});'), ...good, 'application.yml': pluginsYaml({ px: {}, good: {} }) };
    const since = performance.now();
    let started: TestHost | undefined;
    const starting = startHost({ agents, files, ...(clock && { clock }) }).then((host) => (started = host));
    while (clock !== undefined && started === undefined) {
      await clock.tick(50);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await using host = await starting;
    expect(clock?.monotonic() ?? performance.now() - since, 'ms until the server was up').to.be.below(15_000);
    expect(await viewOf(host, 'px')).to.include({ state: 'pending', error: null });
    await expectOthersWork(host);
    await clock?.tick(30_000);
    const failed = await untilPlugin(host, 'px', 'fails', ({ state }) => state === 'failed', 40_000);
    expect(failed.error).to.include('30 s');
    await expectOthersWork(host);
  });

const throwsAtLoad = holds(async () => {
  await using host = await hostWith('throw new Error("boom")');
  const view = await untilPlugin(host, 'px', 'fails', ({ state }) => state === 'failed');
  expect(view.error).to.include('boom').and.not.include(host.root);
  await expectOthersWork(host);
});

const throwsInHooks = holds(async () => {
  await using host = await hostWith(pluginCode('px', `ctx.tap('beforeToolCall', () => { throw new Error('h'); });`));
  expect(await callTool(host, 'a1', 'current_time', { timezone: 'UTC' })).to.include('px');
  const row = (await host.rows('tool_invocations')).at(-1);
  expect(row).to.include({ tool_name: 'current_time', success: 0, blocked_by: 'px' });
  await host.write('plugins/px/index.js', pluginCode('px', `ctx.tap('afterToolCall', () => { throw new Error('h2'); });`));
  await untilPlugin(host, 'px', 'is reloaded', ({ generation }) => generation === 2);
  expect(await callTool(host, 'a1', 'current_time', { timezone: 'UTC' })).to.match(/^\d{4}-/);
});

/** A hook may refuse; whatever else it does or gives back, the call is made as the model asked for it. */
const mutates: RunCase = holds(async () => {
  const secret = 'outside-secret-content';
  for (const attempt of [
    'call.input.path = target',
    'call.input = { path: target }',
    'Object.assign(call.input, { path: target })',
    'call.args.path = target',
  ]) {
    const code = (target: string): string =>
      pluginCode(
        'px',
        `const target = ${JSON.stringify(target)}; ctx.tap('beforeToolCall', (call) => { try { ${attempt}; } catch {} return undefined; });`,
      );
    await using host = await startHost({ agents, files: { ...good, 'application.yml': pluginsYaml({ px: {}, good: {} }) } });
    await host.write('../outside/secret.txt', secret);
    await host.write('agents/a1/ok.txt', 'fine content');
    for (const [path, text] of Object.entries(pluginFiles('px', code(join(host.home, 'outside/secret.txt'))))) await host.write(path, text);
    await host.request('POST', '/api/v1/plugins/px/retry');
    await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active');
    expect(await callTool(host, 'a1', 'read_file', { path: 'ok.txt' }), attempt)
      .to.include('fine content')
      .and.not.include(secret);
    const row = (await host.rows('tool_invocations')).at(-1);
    expect(JSON.parse(String(row?.['input_json'])), attempt).to.deep.equal({ path: 'ok.txt' });
  }
  // What a hook gives back is a refusal or nothing; anything else is a hook that failed.
  for (const answer of ["{ args: { path: '/etc/passwd' } }", "{ input: { path: '/etc/passwd' } }", 'true', "'yes'", '[]']) {
    await using host = await hostWith(pluginCode('px', `ctx.tap('beforeToolCall', () => (${answer}));`));
    await host.write('agents/a1/ok.txt', 'fine content');
    const result = await callTool(host, 'a1', 'read_file', { path: 'ok.txt' });
    expect(result, answer).to.include('plugin "px" could not decide on beforeToolCall');
    expect((await host.rows('tool_invocations')).at(-1), answer).to.include({ success: 0, blocked_by: 'px' });
  }
});

const pathName = holds(async () => {
  const files = { ...pluginFiles('px', '', { name: '../../x', main: '../../../../outside/evil.js' }), ...good };
  await using host = await startHost({ agents, files: { ...files, 'application.yml': pluginsYaml({ '../../x': {}, px: {}, good: {} }) } });
  await host.write('../outside/evil.js', 'globalThis.evil = true;');
  await host.request('POST', '/api/v1/plugins/px/retry');
  for (const name of ['../../x', 'px']) expect(await viewOf(host, name), name).to.include({ state: 'failed' });
  expect((await viewOf(host, '../../x'))?.error).to.include('not the name of a package');
  expect(globalThis).to.not.have.property('evil');
  expect(existsSync(join(host.root, '../x'))).to.equal(false);
  await expectOthersWork(host);
});

/** Replaced again and again without care, half of the time by something that is no program. */
const reloadedHalf: RunCase = holds(async ({ input }) => {
  await using host = await hostWith(pluginCode('px', tool('one', 'first')));
  const last = join(host.root, 'last.js');
  await host.write('last.js', pluginCode('px', tool('one', 'last')));
  const command = listOf(input)
    .flatMap(({ cmd }) => listOf(cmd as string))
    .join('\n')
    .replaceAll('$WS', host.root)
    .replaceAll('echo "export default {tools:[]}"', `cat ${last}`);
  expect(command).to.include(last);
  let going = true;
  const wrong: string[] = [];
  const looking = (async () => {
    while (going) {
      const { status } = await host.request('GET', '/api/v1/health');
      const answered = await callTool(host, 'a1', 'one');
      if (status !== 200 || !['first', 'last'].includes(answered)) wrong.push(`${status} ${answered}`);
    }
  })();
  const child = spawn('sh', ['-c', command], { stdio: 'ignore' });
  await once(child, 'exit');
  await until('the last version', async () => (await viewOf(host, 'px'))?.error === null && (await viewOf(host, 'px'))?.state === 'active');
  going = false;
  await looking;
  expect(wrong).to.deep.equal([]);
  await until('the last version to answer', async () => (await callTool(host, 'a1', 'one')) === 'last');
  const { generation } = await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active');
  expect(generation, 'versions that were loaded').to.be.below(60);
  await host.write('plugins/px/index.js', 'export default {');
  await untilPlugin(host, 'px', 'reports', ({ error }) => error !== null);
  expect(await callTool(host, 'a1', 'one'), 'the old version stays').to.equal('last');
});

/** Loading and unloading over and over, and a handle that nobody owns. */
const leaks = (cycles: number): RunCase =>
  holds(async () => {
    const code = pluginCode(
      'px',
      `const t = setInterval(() => { globalThis.pxTicks = (globalThis.pxTicks ?? 0) + 1; }, 50); ctx.own('timer', () => clearInterval(t)); ${tool('one', 'one')}`,
    );
    await using host = await hostWith(code);
    const ticks = (): number => Number(Reflect.get(globalThis, 'pxTicks') ?? 0);
    await until('the timer to run', () => ticks() > 0);
    const without = async (): Promise<void> => {
      await host.write('application.yml', pluginsYaml({ good: {} }));
      await until('px to go', async () => (await viewOf(host, 'px')) === undefined);
    };
    await without();
    const stopped = ticks();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(ticks()).to.equal(stopped);
    const counted = (): readonly number[] => [
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
      process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      host.kernel.tapCount(),
    ];
    const [before, rss] = [counted(), process.memoryUsage().rss];
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await host.write('application.yml', pluginsYaml({ good: {}, px: {} }));
      await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active');
      await without();
    }
    await until('timers to end', () => counted().every((count, index) => count <= (before[index] ?? 0) + 1));
    expect((process.memoryUsage().rss - rss) / MIB, 'MiB more').to.be.below(50 + cycles);
    Reflect.deleteProperty(globalThis, 'pxTicks');
    await host.write('plugins/px/index.js', pluginCode('px', 'globalThis.left = setInterval(() => {}, 1000);'));
    await host.write('application.yml', pluginsYaml({ good: {}, px: {} }));
    await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active');
    await host.write('plugins/px/index.js', pluginCode('px', ''));
    const { warnings } = await untilPlugin(host, 'px', 'is reported', (view) => view.warnings.length > 0);
    clearInterval(Reflect.get(globalThis, 'left') as NodeJS.Timeout);
    Reflect.deleteProperty(globalThis, 'left');
    expect(warnings.join()).to.match(/left 1 timers? or handles?/);
  });

/** Plugins are trusted code, and everybody is told so. */
const trusted = holds(async () => {
  const code = pluginCode(
    'px',
    `const { readFileSync } = await import('node:fs'); ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, async execute() { return ok(readFileSync('/etc/hostname', 'utf8')); } }));`,
  );
  await using host = await hostWith(code);
  expect(await callTool(host, 'a1', 'one')).to.not.include('Tool failed');
  expect((await host.request('GET', '/api/v1/plugins')).text).to.match(/full access|trusted/i);
});

/** The cases of the area PLUGIN. `full` takes as many rounds as the corpus. */
export const pluginCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  'plugin-clash-dup': clash,
  'plugin-hang-load': hangs(full),
  'plugin-throw-load': throwsAtLoad,
  'plugin-throw-hook': throwsInHooks,
  'plugin-mutate-args': mutates,
  'plugin-path-name': pathName,
  'plugin-reload-half': reloadedHalf,
  'plugin-leak-timer': leaks(full ? 100 : 5),
  'plugin-perm-undeclared': trusted,
});
