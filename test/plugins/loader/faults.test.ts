import { expect } from 'chai';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentFiles, callTool, pluginCode, pluginFiles, pluginsYaml, tool, untilPlugin, viewOf } from './plugin-files.ts';
import { agentFile, fakeClock, type FakeClock, startHost, type TestHost, until } from '../../harness/index.ts';

const agents: AgentFiles = { t: agentFile('t', 'tools: [one, good]\nsettings: {on_fatal_tool_error: feedback}') };
const good = pluginFiles('good', pluginCode('good', tool('good', 'good')));
const fixed = pluginCode('px', tool('one', 'fixed'));

async function hostWith(code: string, manifest: Readonly<Record<string, unknown>> = {}, section: unknown = {}): Promise<TestHost> {
  const files = { ...pluginFiles('px', code, manifest), ...good, 'application.yml': pluginsYaml({ px: section, good: {} }) };
  return startHost({ agents, files });
}

/** The server, the other plugin and the built-in tools go on; the plugin is listed as failed, and says why. */
async function expectFailed(host: TestHost, reason: RegExp): Promise<void> {
  const view = await untilPlugin(host, 'px', 'fails', ({ state }) => state === 'failed');
  expect(view.error).to.match(reason).and.not.include(host.root);
  expect(view.effects).to.deep.equal([]);
  expect((await host.request('GET', '/api/v1/health')).status).to.equal(200);
  expect(await viewOf(host, 'good')).to.include({ state: 'active' });
  expect(await callTool(host, 't', 'good')).to.equal('good');
}

/** Starts a host whose start waits for time to pass. */
async function startedOn(clock: FakeClock, files: Readonly<Record<string, string>>): Promise<TestHost> {
  let started: TestHost | undefined;
  const starting = startHost({ agents, files, clock }).then((host) => (started = host));
  await Promise.race([
    starting,
    until('the host to start', async () => {
      await clock.tick(50);
      return started;
    }),
  ]);
  return starting;
}

/** After the fix a retry loads it, without a restart. */
async function expectRetried(host: TestHost, code = fixed): Promise<void> {
  await host.write('plugins/px/index.js', code);
  const { status, data } = await host.request('POST', '/api/v1/plugins/px/retry');
  expect(status).to.equal(200);
  expect(data).to.include({ name: 'px', state: 'active', error: null });
  expect(await callTool(host, 't', 'one')).to.equal('fixed');
}

const AT_START: Readonly<
  Record<string, { readonly code: string; readonly reason: RegExp; readonly manifest?: Readonly<Record<string, unknown>> }>
> = {
  'throws at import': { code: 'throw new Error("boom");', reason: /could not be imported: boom \(index\.js:1\)/ },
  'rejects at import': { code: 'await Promise.reject(new Error("boom"));', reason: /could not be imported: boom/ },
  'has a syntax error': { code: 'export default {', reason: /could not be imported: / },
  'imports what is not installed': { code: 'import "nowhere";', reason: /could not be imported: .*nowhere/ },
  'imports what oryxos does not export': { code: 'import { nope } from "oryxos"; nope();', reason: /could not be imported: .*nope/ },
  'exports no plugin': {
    code: 'export default { name: "px", setup() {} };',
    reason: /default export of index\.js .* must be what definePlugin returns/,
  },
  'exports an incomplete plugin': {
    code: 'import { definePlugin } from "oryxos"; export default definePlugin({ name: "px" });',
    reason: /needs a name/,
  },
  'throws at setup': { code: pluginCode('px', `${tool('one', '')} throw new Error('boom');`), reason: /failed to start: boom/ },
  'throws something odd at setup': { code: pluginCode('px', 'throw null;'), reason: /failed to start: null/ },
  'takes a tool name that another plugin has': {
    code: pluginCode('px', tool('current_time', '')),
    reason: /tool "current_time" belongs to plugin "tools"/,
  },
  'takes a route that another plugin has': {
    code: pluginCode(
      'px',
      `ctx.register('route', defineRoute({ name: 'GET /api/v1/health', summary: '', kind: 'read', handle: () => 1 }));`,
    ),
    reason: /route "GET \/api\/v1\/health" belongs to plugin "system"/,
  },
  'takes the name of a built-in plugin': {
    code: pluginCode('sandbox', ''),
    reason: /calls itself "sandbox", which is the name of a built-in plugin/,
  },
  'takes a service that another plugin provides': {
    code: pluginCode('px', `ctx.provide('store', {});`),
    reason: /service "store" belongs to plugin "store"/,
  },
  'has a schema that is none': { code: pluginCode('px', '', `config: { type: 'nonsense' },`), reason: /schema is not valid/ },
  'needs a setting that is missing': {
    code: pluginCode('px', '', `config: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },`),
    reason: /configuration of plugin "px" is wrong: .*url/,
  },
  'was made for another version': {
    code: 'globalThis.imported = true;',
    manifest: { peerDependencies: { oryxos: '^99.1.0' } },
    reason: /plugin "px" wants oryxos \^99\.1\.0, this is oryxos \d+\.\d+\.\d+: .*npm install px@latest/,
  },
  'has a main file outside of its directory': {
    code: '',
    manifest: { main: '../good/index.js' },
    reason: /leads out of the package: "\.\.\/good\/index\.js"/,
  },
  'has a plugin file outside of its directory': {
    code: '',
    manifest: { oryxos: { plugin: '/etc/hostname' } },
    reason: /has no file "\/etc\/hostname", which oryxos\.plugin/,
  },
  'was not built': { code: '', manifest: { main: 'dist/index.js' }, reason: /has no file "dist\/index\.js".*is it built\?/ },
};

describe('a plugin that is at fault takes nothing down with it', () => {
  for (const [what, { code, reason, manifest }] of Object.entries(AT_START)) {
    it(`${what}: failed with the reason, loaded by a retry after the fix`, async () => {
      await using host = await hostWith(code, manifest);
      await expectFailed(host, reason);
      if (manifest) await host.write('plugins/px/package.json', '{"name": "px", "type": "module"}');
      await expectRetried(host);
    });
  }

  it('has a package.json that cannot be read', async () => {
    await using host = await hostWith(fixed);
    await host.write('plugins/px/package.json', '{"name": ');
    const { data } = await host.request('POST', '/api/v1/plugins/px/retry');
    expect(data).to.include({ state: 'active' });
    expect((data as { error: string }).error).to.include('package.json of plugin "px" (directory) is not valid JSON');
    expect(await callTool(host, 't', 'one')).to.equal('fixed');
  });

  it('hides its file behind a link that leads out of the package', async () => {
    await using host = await hostWith(fixed, { main: 'link.js' });
    await writeFile(join(host.home, 'evil.js'), 'globalThis.evil = true;');
    await symlink(join(host.home, 'evil.js'), join(host.root, 'plugins/px/link.js'));
    const { data } = await host.request('POST', '/api/v1/plugins/px/retry');
    expect((data as { error: string }).error).to.include('is a link that leads out of the package');
    expect(globalThis).not.to.have.property('evil');
  });

  it('has a name that leads somewhere else', async () => {
    await using host = await startHost({
      agents,
      files: { ...good, 'application.yml': pluginsYaml({ '../../x': {}, 'a/b/c': {}, node_modules: {}, good: {} }) },
    });
    for (const name of ['../../x', 'a/b/c', 'node_modules'])
      expect((await viewOf(host, name))?.error).to.include(`"${name}" is not the name of a package`);
    expect(await callTool(host, 't', 'good')).to.equal('good');
  });

  it('has the name of a built-in plugin in the configuration', async () => {
    await using host = await startHost({ files: { 'application.yml': pluginsYaml({ sandbox: {} }) } });
    const { data } = await host.request('GET', '/api/v1/plugins');
    const errors = (data as readonly { name: string; error: string | null }[])
      .filter(({ name }) => name === 'sandbox')
      .map(({ error }) => error);
    expect(errors).to.deep.equal([null, 'plugin "sandbox" cannot be loaded: "sandbox" is the name of a built-in plugin']);
  });

  it('never ends its import: pending, then failed after 30 s, while the server is up and others run; fixed meanwhile, it does not wait', async () => {
    const clock = fakeClock();
    const files = {
      ...pluginFiles('px', 'globalThis.hung = (globalThis.hung ?? 0) + 1; await new Promise(() => {});'),
      ...good,
      'application.yml': pluginsYaml({ px: {}, good: {} }),
    };
    const host = await startedOn(clock, files);
    try {
      expect(clock.monotonic()).to.be.at.least(5_000).and.below(15_000);
      expect(await viewOf(host, 'px')).to.include({ state: 'pending', error: null });
      expect(await callTool(host, 't', 'good')).to.equal('good');
      await clock.tick(30_000);
      await expectFailed(host, /was not imported within 30 s: an "await" at the top level/);
      const retried = host.request('POST', '/api/v1/plugins/px/retry');
      await until('the import to begin again', () => Reflect.get(globalThis, 'hung') === 2);
      expect(await viewOf(host, 'px')).to.include({ state: 'pending' });
      await host.write('plugins/px/index.js', fixed);
      expect((await host.request('POST', '/api/v1/plugins/px/retry')).data).to.include({ state: 'active' });
      expect((await retried).status).to.equal(200);
      expect(await callTool(host, 't', 'one')).to.equal('fixed');
    } finally {
      Reflect.deleteProperty(globalThis, 'hung');
      await host.stop();
    }
  });

  it('never ends its setup: failed after 30 s; the server is up before that', async () => {
    const clock = fakeClock();
    const files = {
      ...pluginFiles('px', pluginCode('px', 'await new Promise(() => {});')),
      ...good,
      'application.yml': pluginsYaml({ good: {}, px: {} }),
    };
    const host = await startedOn(clock, files);
    try {
      expect(clock.monotonic()).to.be.below(15_000);
      expect(await viewOf(host, 'px')).to.include({ state: 'pending' });
      await clock.tick(31_000);
      await expectFailed(host, /did not finish its setup within 30 s/);
      await expectRetried(host);
    } finally {
      await host.stop();
    }
  });

  it('never ends its setup, live: others come, change and go meanwhile, and so does it after an edit', async () => {
    await using host = await startHost({ agents, files: { ...good, 'application.yml': pluginsYaml({ good: {} }) } });
    const hanging = `${tool('one', 'hangs')} await new Promise(() => {});`;
    for (const [path, text] of Object.entries(pluginFiles('px', pluginCode('px', hanging)))) await host.write(path, text);
    await host.write('application.yml', pluginsYaml({ px: {}, good: {} }));
    await until('the setup to hang', () => host.kernel.status().some(({ name, state }) => name === 'px' && state === 'starting'));
    expect(await viewOf(host, 'px')).to.include({ state: 'pending' });

    await host.write('plugins/good/index.js', pluginCode('good', tool('good', 'better')));
    await untilPlugin(host, 'good', 'is loaded anew', ({ generation }) => generation === 2, 15_000);
    expect(await callTool(host, 't', 'good')).to.equal('better');
    await host.write('plugins/px/index.js', fixed);
    await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active', 15_000);
    expect(await callTool(host, 't', 'one')).to.equal('fixed');

    await host.write('plugins/px/index.js', pluginCode('px', hanging));
    expect(await callTool(host, 't', 'one')).to.equal('fixed');
    await host.write('application.yml', pluginsYaml({ good: {} }));
    await until('px to go', () => host.kernel.registry('tool').get('one') === undefined, 15_000);
    expect(host.kernel.status().map(({ name }) => name)).not.to.include('px');
  });

  it('throws in a hook that decides: the call is refused in its name; in one that observes: the call goes on', async () => {
    await using host = await hostWith(pluginCode('px', `ctx.tap('beforeToolCall', () => { throw new Error('h'); });`));
    expect(await callTool(host, 't', 'good')).to.include('plugin "px" could not decide on beforeToolCall');
    await host.write(
      'plugins/px/index.js',
      pluginCode(
        'px',
        `ctx.tap('afterToolCall', () => { throw new Error('h2'); }); ctx.tap('beforeTurn', () => Promise.reject(new Error('h3')));`,
      ),
    );
    await untilPlugin(host, 'px', 'is reloaded', ({ generation }) => generation === 2);
    expect(await callTool(host, 't', 'good')).to.equal('good');
  });

  it('changes the arguments of a call in a hook: it cannot', async () => {
    const spy = `ctx.tap('beforeToolCall', (call) => { try { call.input.path = 'x'; } catch {} return undefined; });`;
    const echo = `ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, async execute(input) { return ok(JSON.stringify(input)); } }));`;
    await using host = await hostWith(pluginCode('px', spy + echo));
    expect(await callTool(host, 't', 'one', { path: 'ok' })).to.equal('{"path":"ok"}');
  });

  it('throws or rejects in a tool: the model is told, and the next call works', async () => {
    const bad = (how: string): string =>
      `ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, execute() { ${how} } }));`;
    await using host = await hostWith(pluginCode('px', bad(`throw new Error('boom')`)));
    expect(await callTool(host, 't', 'one')).to.equal('Tool failed: one failed: boom');
    await host.write('plugins/px/index.js', pluginCode('px', bad('return Promise.reject(new Error("later"))')));
    await untilPlugin(host, 'px', 'is reloaded', ({ generation }) => generation === 2);
    expect(await callTool(host, 't', 'one')).to.equal('Tool failed: one failed: later');
    await host.write('plugins/px/index.js', pluginCode('px', bad('return { fine: true }')));
    await untilPlugin(host, 'px', 'is reloaded', ({ generation }) => generation === 3);
    expect(await callTool(host, 't', 'one')).to.equal('Tool failed: one returned something that is not a tool result');
    expect(await callTool(host, 't', 'good')).to.equal('good');
  });

  it('never ends a tool call: the call ends at its deadline', async () => {
    await using host = await hostWith(
      pluginCode(
        'px',
        `ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, timeoutMs: 50, execute: () => new Promise(() => {}) }));`,
      ),
    );
    expect(await callTool(host, 't', 'one')).to.equal('Tool failed: one timed out after 0.05 s');
    expect(await callTool(host, 't', 'good')).to.equal('good');
  });

  it('throws in a route: 500 without a word of it, and the other routes answer', async () => {
    await using host = await hostWith(
      pluginCode(
        'px',
        `ctx.register('route', defineRoute({ name: 'GET /api/v1/px', summary: '', kind: 'read', handle: () => { throw new Error('secret detail'); } }));`,
      ),
    );
    const answer = await host.request('GET', '/api/v1/px');
    expect(answer.status).to.equal(500);
    expect(answer.text).not.to.include('secret detail');
    expect((await host.request('GET', '/api/v1/health')).status).to.equal(200);
  });

  it('throws when it is unloaded: it is gone all the same, and can be loaded again', async () => {
    const code = pluginCode(
      'px',
      `${tool('one', 'fixed')} ctx.own('thing', () => { throw new Error('no'); }); ctx.own('other', () => Promise.reject(new Error('no')));`,
    );
    await using host = await hostWith(code);
    await host.write('application.yml', pluginsYaml({ good: {} }));
    await until('px to go', async () => (await viewOf(host, 'px')) === undefined);
    expect(host.kernel.registry('tool').get('one')).to.equal(undefined);
    await host.write('application.yml', pluginsYaml({ good: {}, px: {} }));
    await untilPlugin(host, 'px', 'is active', ({ state }) => state === 'active');
    expect(await callTool(host, 't', 'one')).to.equal('fixed');
  });

  it('leaves a timer and a server open that it opened outside of its context: it is reported, with the next generation', async () => {
    const left = `globalThis.left = [setInterval(() => {}, 1000)]; const { createServer } = await import('node:net');
      globalThis.left.push(createServer()); await new Promise((done) => globalThis.left[1].listen(0, '127.0.0.1', done));
      const tidy = setInterval(() => {}, 1000); ctx.own('timer', () => clearInterval(tidy));`;
    await using host = await hostWith(pluginCode('px', left));
    await host.write('plugins/px/index.js', fixed);
    const { warnings } = await untilPlugin(host, 'px', 'is reported', (view) => view.warnings.length > 0);
    const [timer, server] = Reflect.get(globalThis, 'left') as [NodeJS.Timeout, { close(): void }];
    clearInterval(timer);
    server.close();
    Reflect.deleteProperty(globalThis, 'left');
    expect(warnings).to.deep.equal(['it left 2 timers or handles open when it closed; they last until the next restart']);
  });

  it('wants a tool name that a plugin before it has: the first of the configuration gets it', async () => {
    const code = (name: string): string => pluginCode(name, tool('one', name));
    const files = { ...pluginFiles('a', `await new Promise((r) => setTimeout(r, 50));\n${code('a')}`), ...pluginFiles('b', code('b')) };
    await using host = await startHost({ agents, files: { ...files, 'application.yml': pluginsYaml({ a: {}, b: {} }) } });
    expect(await callTool(host, 't', 'one')).to.equal('a');
    expect((await viewOf(host, 'b'))?.error).to.include('tool "one" belongs to plugin "a"');
  });

  it('waits for a service that nobody provides: pending, and it says which', async () => {
    await using host = await hostWith(pluginCode('px', '', `requires: ['moon'],`));
    expect(await viewOf(host, 'px')).to.deep.include({ state: 'pending', requires: ['moon'], missing: ['moon'], error: null });
  });

  it('is looked up by a name that nobody has: 404; a built-in plugin that runs is not tried again', async () => {
    await using host = await startHost();
    await mkdir(join(host.root, 'plugins'), { recursive: true });
    expect((await host.request('POST', '/api/v1/plugins/nobody/retry')).status).to.equal(404);
    expect((await host.request('POST', '/api/v1/plugins/tools/retry')).status).to.equal(409);
  });
});
