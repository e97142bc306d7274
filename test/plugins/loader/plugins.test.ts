import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { type AgentFiles, callTool, pluginCode, pluginFiles, pluginsYaml, tool, untilPlugin, viewOf } from './plugin-files.ts';
import { agentFile, fakeClock, startHost, until } from '../../harness/index.ts';

const agents: AgentFiles = { t: agentFile('t', 'tools: [one, two]\nsettings: {on_fatal_tool_error: feedback}') };

describe('a third-party plugin', () => {
  it('is loaded when the configuration names it, and no other is', async () => {
    await using host = await startHost({
      agents,
      files: {
        ...pluginFiles('p1', pluginCode('p1', tool('one', '1'))),
        ...pluginFiles('p2', pluginCode('p2', tool('two', '2'))),
        'application.yml': pluginsYaml({ p1: {} }),
      },
    });
    expect(await viewOf(host, 'p1')).to.deep.equal({
      name: 'p1',
      version: '1.0.0',
      source: 'directory',
      state: 'active',
      requires: [],
      missing: [],
      error: null,
      effects: ['tool one'],
      generation: 1,
      warnings: [],
      trust: 'third-party code: it runs in the server with full access; the sandbox judges only what its tools claim',
    });
    expect(await viewOf(host, 'p2')).to.equal(undefined);
    expect(await callTool(host, 't', 'one')).to.equal('1');
  });

  it('stays when the configuration file is emptied, or taken away, for a moment before the new one is there', async () => {
    const clock = fakeClock();
    const files = { ...pluginFiles('p1', pluginCode('p1', tool('one', '1'))), 'application.yml': pluginsYaml({ p1: {} }) };
    await using host = await startHost({ agents, files, clock });
    const file = join(host.root, 'application.yml');
    for (const leave of [() => writeFile(file, ''), () => rm(file)]) {
      await leave();
      const reading = host.kernel.service('loader').reread();
      await clock.tick(400);
      await writeFile(file, `${pluginsYaml({ p1: {} })}\n`);
      await clock.tick(100);
      await reading;
      expect(await viewOf(host, 'p1')).to.include({ state: 'active', generation: 1 });
    }
    await writeFile(file, '');
    const reading = host.kernel.service('loader').reread();
    await clock.tick(500);
    await reading;
    await until('it to go', async () => (await viewOf(host, 'p1')) === undefined);
  });

  it('comes, changes and goes with its section in the configuration', async () => {
    const code = pluginCode(
      'p1',
      `ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, async execute() { return ok(JSON.stringify(ctx.config)); } }));`,
      `config: { type: 'object', properties: { greeting: { type: 'string', default: 'hi' }, maxTimes: { type: 'integer' } }, additionalProperties: false },`,
    );
    await using host = await startHost({ agents, files: pluginFiles('p1', code), env: { TIMES: '3' } });
    await host.write('application.yml', 'oryxos: {plugins: {p1: 1}}');
    expect((await untilPlugin(host, 'loader', 'reports', ({ error }) => error !== null)).error).to.include('oryxos.plugins');
    await host.write('application.yml', pluginsYaml({ p1: { config: { 'max-times': '${TIMES}' } } }));
    await untilPlugin(host, 'p1', 'is active', ({ state }) => state === 'active');
    expect(JSON.parse(await callTool(host, 't', 'one'))).to.deep.equal({ greeting: 'hi', maxTimes: 3 });
    await host.write('application.yml', pluginsYaml({ p1: { config: { greeting: 'hello' } } }));
    await untilPlugin(host, 'p1', 'is loaded anew', ({ generation }) => generation === 2);
    expect(JSON.parse(await callTool(host, 't', 'one'))).to.deep.equal({ greeting: 'hello' });
    await host.write('application.yml', pluginsYaml({ p1: { config: { greting: 'hello' } } }));
    const wrong = await untilPlugin(host, 'p1', 'reports', ({ error }) => error !== null);
    expect(wrong).to.include({ state: 'active' });
    expect(wrong.error).to.match(/configuration of plugin "p1" is wrong: .*greting/);
    expect(JSON.parse(await callTool(host, 't', 'one'))).to.deep.equal({ greeting: 'hello' });
    await host.write('application.yml', '');
    await until('p1 to go', async () => (await viewOf(host, 'p1')) === undefined);
    expect(host.kernel.registry('tool').get('one')).to.equal(undefined);
  });

  it('is live with new code when one of its files is saved, as a whole, and keeps the old code while the new one is broken', async () => {
    const main = (name: string): string =>
      `import { answer } from './lib/answer.js';\n${pluginCode('p1', tool('one', '').replace('""', 'answer'))}//${name}`;
    await using host = await startHost({
      agents,
      files: {
        ...pluginFiles('p1', main('')),
        'plugins/p1/lib/answer.js': 'export const answer = "first";',
        'application.yml': pluginsYaml({ p1: {} }),
      },
    });
    expect(await callTool(host, 't', 'one')).to.equal('first');
    await host.write('plugins/p1/lib/answer.js', 'export const answer = "second";');
    await untilPlugin(host, 'p1', 'is reloaded', ({ generation }) => generation === 2);
    expect(await callTool(host, 't', 'one')).to.equal('second');
    await host.write('plugins/p1/lib/answer.js', 'export const answer = ;');
    const broken = await untilPlugin(host, 'p1', 'reports', ({ error }) => error !== null);
    expect(broken).to.include({ state: 'active', generation: 2 });
    expect(broken.error).to.include('could not be imported').and.not.include(host.root);
    expect(await callTool(host, 't', 'one')).to.equal('second');
    await host.write('plugins/p1/lib/answer.js', 'export const answer = "third";');
    await untilPlugin(host, 'p1', 'is reloaded', ({ error }) => error === null);
    expect(await callTool(host, 't', 'one')).to.equal('third');
  });

  it('settles on the last version of files that are written again and again', async () => {
    await using host = await startHost({
      agents,
      files: { ...pluginFiles('p1', pluginCode('p1', tool('one', '0'))), 'application.yml': pluginsYaml({ p1: {} }) },
    });
    for (let round = 1; round <= 50; round += 1) {
      await host.write('plugins/p1/index.js', 'expo');
      await host.write('plugins/p1/index.js', pluginCode('p1', tool('one', String(round))));
      expect(host.kernel.registry('tool').get('one')).not.to.equal(undefined);
    }
    await until('the last version', async () => (await callTool(host, 't', 'one')) === '50');
    expect(await viewOf(host, 'p1')).to.include({ state: 'active', error: null });
  });

  it('that is not there yet is noticed when it comes', async () => {
    await using host = await startHost({ agents, files: { 'application.yml': pluginsYaml({ '@scope/p1': {} }) } });
    const missing = await viewOf(host, '@scope/p1');
    expect(missing).to.include({ state: 'failed', version: null });
    expect(missing?.error).to.include('"@scope/p1" cannot be loaded: it is neither in plugins/');
    for (const [path, text] of Object.entries(pluginFiles('@scope/p1', pluginCode('p1', tool('one', '1'))))) await host.write(path, text);
    await untilPlugin(host, '@scope/p1', 'is active', ({ state }) => state === 'active');
    expect(await callTool(host, 't', 'one')).to.equal('1');
    expect((await host.request('POST', `/api/v1/plugins/${encodeURIComponent('@scope/p1')}/retry`)).data).to.include({ generation: 2 });
  });

  it('that is installed is not followed unless it is asked for; a retry takes up what was installed', async () => {
    const installed = (answer: string): Record<string, string> =>
      Object.fromEntries(
        Object.entries(pluginFiles('p1', pluginCode('p1', tool('one', answer)))).map(([path, text]) => [
          path.replace('plugins/', 'plugins/node_modules/'),
          text,
        ]),
      );
    await using host = await startHost({ agents, files: { ...installed('1'), 'application.yml': pluginsYaml({ p1: {} }) } });
    expect(await viewOf(host, 'p1')).to.include({ source: 'package' });
    for (const [path, text] of Object.entries(installed('2'))) await host.write(path, text);
    await host.write('application.yml', pluginsYaml({ p1: { config: {} } }));
    const answer = await host.request('POST', '/api/v1/plugins/p1/retry');
    expect(answer.data).to.include({ name: 'p1', state: 'active' });
    expect(await callTool(host, 't', 'one')).to.equal('2');
    await host.write('application.yml', pluginsYaml({ p1: { watch: true } }));
    const { generation } = await untilPlugin(host, 'p1', 'is watched', (view) => view.generation > 2);
    for (const [path, text] of Object.entries(installed('3'))) await host.write(path, text);
    await untilPlugin(host, 'p1', 'is reloaded', (view) => view.generation > generation);
    expect(await callTool(host, 't', 'one')).to.equal('3');
  });

  it('gets the module-wide state of its code anew with each reload, and shares what lies in node_modules', async () => {
    const code = pluginCode(
      'p1',
      `count += 1; ctx.register('tool', defineTool({ name: 'one', description: '', input: { type: 'object' }, async execute() { return ok(count + ' ' + shared()); } }));`,
    );
    const main = `import { shared } from 'shared';\nlet count = 0;\n${code}`;
    await using host = await startHost({
      agents,
      files: {
        ...pluginFiles('p1', main),
        'plugins/p1/node_modules/shared/package.json': '{"name": "shared", "type": "module", "exports": "./index.js"}',
        'plugins/p1/node_modules/shared/index.js': 'let times = 0; export const shared = () => (times += 1);',
        'application.yml': pluginsYaml({ p1: {} }),
      },
    });
    expect(await callTool(host, 't', 'one')).to.equal('1 1');
    await host.write('plugins/p1/index.js', `${main}\n`);
    await untilPlugin(host, 'p1', 'is reloaded', ({ generation }) => generation === 2);
    expect(await callTool(host, 't', 'one')).to.equal('1 2');
  });

  it('is taken from plugins/node_modules when there are two of its name; the other one is reported with both versions', async () => {
    const code = (answer: string): string => pluginCode('p1', tool('one', answer));
    await using host = await startHost({
      agents,
      files: {
        ...pluginFiles('p1', code('directory'), { version: '2.0.0' }),
        'plugins/node_modules/p1/package.json': '{"name": "p1", "version": "1.0.0", "type": "module", "oryxos": {"plugin": "./main.js"}}',
        'plugins/node_modules/p1/main.js': code('package'),
        'application.yml': pluginsYaml({ p1: {} }),
      },
    });
    const view = await viewOf(host, 'p1');
    expect(view).to.include({ version: '1.0.0', source: 'package', state: 'active' });
    expect(view?.warnings).to.deep.equal([
      'there are two packages of this name: version 1.0.0 (package) is used, version 2.0.0 (directory) is not',
    ]);
    expect(await callTool(host, 't', 'one')).to.equal('package');
  });

  it('is loaded by a short-lived host too, which follows no files', async () => {
    await using host = await startHost({
      agents,
      mode: 'embedded',
      files: { ...pluginFiles('p1', pluginCode('p1', tool('one', '1'))), 'application.yml': pluginsYaml({ p1: {} }) },
    });
    expect(await callTool(host, 't', 'one')).to.equal('1');
  });
});

describe('the configuration file', () => {
  it('that --config names is followed like the one in the workspace', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'oryxos-conf-'));
    const file = join(directory, 'my.yml');
    await writeFile(file, '');
    try {
      await using host = await startHost({ file, files: pluginFiles('p1', pluginCode('p1', '')) });
      await writeFile(file, pluginsYaml({ p1: {} }));
      await untilPlugin(host, 'p1', 'is active', ({ state }) => state === 'active');
      await rm(file);
      expect((await untilPlugin(host, 'loader', 'reports', ({ error }) => error !== null)).error).to.include('cannot be read');
      expect(await viewOf(host, 'p1')).to.include({ state: 'active' });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('edited so that it is not valid changes nothing and is reported until it is valid again', async () => {
    await using host = await startHost({
      files: { ...pluginFiles('p1', pluginCode('p1', '')), 'application.yml': pluginsYaml({ p1: {} }) },
    });
    await host.write('application.yml', 'oryxos: {plgins: {}}');
    const { error, state } = await untilPlugin(host, 'loader', 'reports', (view) => view.error !== null);
    expect(error).to.match(/unknown key "oryxos\.plgins"/);
    expect(state).to.equal('active');
    expect(await viewOf(host, 'p1')).to.include({ state: 'active' });
    expect(host.kernel.service('plugins').problems()).to.deep.equal([error]);
    await host.write('application.yml', pluginsYaml({ p1: {} }, { unsafe: false }));
    await untilPlugin(host, 'loader', 'is content', (view) => view.error === null);
    expect(await viewOf(host, 'p1')).to.include({ state: 'active', generation: 1 });
  });

  it('is shown with the origin of every value and without secrets', async () => {
    await using host = await startHost({
      files: { 'application.yml': pluginsYaml({ p1: { config: { 'api-key': 'super-secret-value', limit: 3 } } }, { 'max-runs': 7 }) },
      env: { ORYXOS_WEB_SSE_HEARTBEAT_SECONDS: '9' },
    });
    const { data } = await host.request('GET', '/api/v1/config');
    const setting = (key: string): unknown => (data as readonly { key: string }[]).find((each) => each.key === key);
    expect(setting('oryxos.max-runs')).to.deep.equal({ key: 'oryxos.max-runs', value: 7, origin: `file ${host.root}/application.yml` });
    expect(setting('oryxos.web.sse.heartbeat-seconds')).to.deep.include({
      value: 9,
      origin: 'environment ORYXOS_WEB_SSE_HEARTBEAT_SECONDS',
    });
    expect(setting('file.protect')).to.deep.include({ value: true, origin: 'default' });
    expect(setting('server.port')).to.deep.include({ value: 0, origin: 'flag' });
    expect(setting('oryxos.plugins')).to.deep.include({ value: { p1: { config: { 'api-key': '****alue', limit: 3 } } } });
    expect(JSON.stringify(data)).not.to.include('super-secret');
  });
});
