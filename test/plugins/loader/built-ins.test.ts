import { expect } from 'chai';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { builtInPlugins } from '../../../config/plugins.ts';
import { CORE } from '../../../plugins/loader/disabled.ts';
import { keyTable } from '../../../plugins/loader/key-table.ts';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';
import { callTool, untilPlugin, viewOf } from './plugin-files.ts';

const agents = { t: agentFile('t', 'tools: [read_file]\nsettings: {on_fatal_tool_error: feedback}') };

/** What a start with this configuration file fails with. */
async function refusal(yaml: string): Promise<string> {
  return startHost({ files: { 'application.yml': yaml } }).then(
    async (host) => {
      await host.stop();
      throw new Error('it started');
    },
    (error: Error) => error.message,
  );
}

const has = (host: TestHost, tool: string): boolean => host.kernel.registry('tool').get(tool) !== undefined;

describe('built-in plugins', () => {
  it('are listed with the version of OryxOS, in the order in which they were loaded', async () => {
    await using host = await startHost();
    const { data } = await host.request('GET', '/api/v1/plugins');
    const views = data as readonly { name: string; source: string; state: string; version: string; effects: readonly string[] }[];
    expect(views.map(({ name }) => name)).to.include.members([
      'openai',
      'mock',
      'workspace',
      'store',
      'http',
      'engine',
      'sandbox',
      'tools',
      'loader',
    ]);
    expect(views.every(({ source, state }) => source === 'builtin' && state === 'active')).to.equal(true);
    expect(views.find(({ name }) => name === 'tools')?.effects).to.include('tool read_file');
    expect(views[0]?.version).to.match(/^\d+\.\d+\.\d+/);
  });

  it('are left out when oryxos.disable names them, adapters too; what needs them waits and says so', async () => {
    await using host = await startHost({ files: { 'application.yml': 'oryxos: {disable: [memory, mock]}' } });
    expect(await viewOf(host, 'memory')).to.equal(undefined);
    expect(host.kernel.registry('providerAdapter').get('mock')).to.equal(undefined);
    expect(await viewOf(host, 'tools')).to.deep.include({ state: 'pending', missing: ['memory'] });
  });

  it('are left out and taken in live', async () => {
    await using host = await startHost();
    await host.write('application.yml', 'oryxos: {disable: [tools]}');
    await until('the tools to go', async () => (await viewOf(host, 'tools')) === undefined && !has(host, 'read_file'));
    await host.write('application.yml', 'oryxos: {disable: []}');
    await untilPlugin(host, 'tools', 'is back', ({ state }) => state === 'active');
    expect(has(host, 'read_file')).to.equal(true);
  });

  it('that the server cannot do without are not left out', async () => {
    for (const name of ['store', 'engine', 'secrets', 'logging', 'http', 'workspace', 'loader'])
      expect(await refusal(`oryxos: {disable: [${name}]}`)).to.include(`the server cannot do without "${name}"`);
    expect(await refusal('oryxos: {disable: [watch]}')).to.include('leaves out what "');
    expect(await refusal('oryxos: {disable: [tols]}')).to.match(/no built-in plugin "tols" \(known: .*tools/);
  });

  it('that guard are left out only together with oryxos.unsafe', async () => {
    expect(await refusal('oryxos: {disable: [sandbox]}')).to.include('only together with oryxos.unsafe: true');
    await using host = await startHost({ agents, files: { 'application.yml': 'oryxos: {disable: [sandbox], unsafe: true}' } });
    expect(await viewOf(host, 'sandbox')).to.equal(undefined);
    await host.write('application.yml', 'oryxos: {unsafe: true}');
    await untilPlugin(host, 'sandbox', 'is back', ({ state }) => state === 'active');
    await host.write('application.yml', 'oryxos: {disable: [sandbox]}');
    expect((await untilPlugin(host, 'loader', 'reports', ({ error }) => error !== null)).error).to.include('oryxos.unsafe');
    expect(await viewOf(host, 'sandbox')).to.include({ state: 'active' });
  });

  it('take changed settings live, without a moment in which they do not guard', async () => {
    await using host = await startHost({ agents });
    const passwd = (): Promise<string> => callTool(host, 't', 'read_file', { path: 'agents/../../../x/AGENT.md' });
    expect(await passwd()).to.include('Tool failed');
    await host.write('application.yml', 'file: {protect: false}');
    await untilPlugin(host, 'sandbox', 'runs with the change', ({ generation }) => generation === 2);
    expect(await passwd()).to.include('Tool failed');
    await host.write('application.yml', '');
    await untilPlugin(host, 'sandbox', 'runs as before', ({ generation }) => generation === 3);
  });

  it('that runs, store and port build on take changed settings at the next start, and say so until they are taken back', async () => {
    await using host = await startHost();
    await host.write('application.yml', 'oryxos: {max-runs: 5}\nserver: {allowed-hosts: [me]}');
    const engine = await untilPlugin(host, 'engine', 'says so', ({ warnings }) => warnings.length > 0);
    expect(engine.warnings).to.deep.equal(['oryxos.max-runs: the change needs a restart']);
    expect((await viewOf(host, 'http'))?.warnings).to.deep.equal(['server.allowed-hosts: the change needs a restart']);
    expect(engine.generation).to.equal(1);
    expect(host.kernel.service('plugins').problems()).to.have.length(2);
    await host.write('application.yml', 'oryxos: {disable: [watch]}');
    const watch = await untilPlugin(host, 'watch', 'stays', ({ warnings }) => warnings.some((text) => text.includes('leaving out')));
    expect(watch).to.deep.include({
      state: 'active',
      warnings: ['oryxos.disable: leaving out "watch" needs a restart, because "engine" builds on it'],
    });
    expect((await viewOf(host, 'engine'))?.warnings).to.deep.equal([]);
    await host.write('application.yml', '');
    await untilPlugin(host, 'watch', 'is content', ({ warnings }) => warnings.length === 0);
  });

  it('that runs build on take their settings all the same while they run: nothing is swapped', async () => {
    const tools = 'tools: [shell, read_file]\nsettings: {on_fatal_tool_error: feedback}';
    await using host = await startHost({ agents: { s: agentFile('s', tools) } });
    const before = host.kernel.status().map(({ name, generation }) => [name, generation]);
    const link = (): Promise<string> => callTool(host, 's', 'read_file', { path: 'second.txt' });
    const key = async (): Promise<unknown> => (await host.request('GET', '/api/v1/providers/p')).data.apiKey;
    await host.request('POST', '/api/v1/providers', { name: 'p', baseUrl: 'https://example.com', apiKey: 'sk-0123456789abcdef' });
    expect(await key()).to.equal('****cdef');
    await host.write('agents/s/first.txt', 'text');
    await fs.link(join(host.root, 'agents/s/first.txt'), join(host.root, 'agents/s/second.txt'));
    expect(await link()).to.include('several hard links');

    await host.write(
      'application.yml',
      JSON.stringify({
        file: { allow_hardlinks: true },
        shell: { timeout_seconds: 1, isolation: 'none' },
        oryxos: {
          author: { provider: 'scripted', model: 'm' },
          web: { 'reveal-api-keys': true },
        },
        watch: { 'reconcile-seconds': 1 },
      }),
    );
    await until('the watch to be in effect', async () => (await shown(host, 'watch.reconcile-seconds')) === 1);
    expect(await key()).to.equal('sk-0123456789abcdef');
    expect(host.kernel.service('providers').defaults()).to.deep.equal({ provider: 'scripted', model: 'm' });
    expect(await link()).to.equal('text');
    expect(host.kernel.service('outside').processes.isolation.setting).to.equal('none');
    expect(await callTool(host, 's', 'shell', { executable: 'cat', arguments: ['first.txt'] })).to.include('text');

    await host.write('application.yml', 'shell: {isolation: strict}');
    await until('the isolation', () => host.kernel.service('outside').processes.isolation.setting === 'strict');
    await until('the rest', async () => (await shown(host, 'watch.reconcile-seconds')) === 30);
    expect(await link()).to.include('several hard links');
    expect(await key()).to.equal('****cdef');
    expect(host.kernel.status().map(({ name, generation }) => [name, generation])).to.deep.equal(before);
    expect(host.kernel.service('plugins').problems()).to.deep.equal([]);
  });

  it('take a setting that is not valid not at all: the old ones are in effect, and it is reported', async () => {
    await using host = await startHost();
    await host.write('application.yml', 'shell: {timeout_seconds: 0, isolation: none}');
    expect((await untilPlugin(host, 'loader', 'reports', ({ error }) => error !== null)).error).to.include('shell.timeout-seconds');
    expect(host.kernel.service('outside').processes.isolation.setting).to.equal('auto');
  });

  it('need a restart for these keys only', () => {
    const needing = builtInPlugins.filter(({ name }) => CORE.includes(name) && name !== 'loader');
    expect(keyTable(needing).map(({ path }) => path)).to.deep.equal([
      'oryxos.root',
      'logging.level',
      'logging.format',
      'logging.file',
      'logging.max-bytes',
      'logging.max-files',
      'server.port',
      'server.host',
      'server.allowed-hosts',
      'oryxos.web.sse.heartbeat-seconds',
      'oryxos.max-runs',
    ]);
    const onTheWay = ['outside', 'providers', 'watch', 'agents', 'sessions'];
    for (const plugin of builtInPlugins.filter(({ name }) => onTheWay.includes(name)))
      expect(plugin.live ?? [], plugin.name).to.have.members(Object.keys(plugin.config?.['properties'] ?? {}));
  });
});

/** The value of a setting as the API shows it. */
async function shown(host: TestHost, key: string): Promise<unknown> {
  const { data } = await host.request('GET', '/api/v1/config');
  return (data as readonly { key: string; value: unknown }[]).find((setting) => setting.key === key)?.value;
}
