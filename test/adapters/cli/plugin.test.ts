import { expect } from 'chai';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pluginFiles, toolNameOf } from '../../../adapters/cli/plugin-template.ts';
import { packageVersion } from '../../../config/package-root.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';
import { callTool, untilPlugin } from '../../plugins/loader/plugin-files.ts';
import { refuse, startApiServer } from './api-server.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const base = { version: '1.0.0', requires: [], missing: [], error: null, effects: [], generation: 1, warnings: [], trust: null };
const rows = [
  { ...base, name: 'tools', source: 'builtin', state: 'active' },
  { ...base, name: 'moon', source: 'directory', trust: 'full access', state: 'pending', missing: ['sun'], version: null },
  {
    ...base,
    name: '@me/x',
    source: 'package',
    state: 'failed',
    error: 'plugin "@me/x" could not be imported: boom (index.js:1)',
    warnings: ['careful'],
    trust: 'full access',
  },
];

async function workspace(): Promise<Terminal> {
  const terminal = await openTerminal();
  await terminal.run('init');
  return terminal;
}

describe('oryxos plugin list and retry', () => {
  it('show state, source, version and what is wrong', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal();
    await terminal.withServer(server.url);
    server.on('GET /api/v1/plugins', () => rows);
    expect(await terminal.run('plugin', 'list')).to.equal(0);
    expect(
      terminal
        .stdout()
        .split('\n')
        .map((line) => line.trimEnd().split(/ {2,}/)),
    ).to.deep.equal([
      ['NAME', 'STATE', 'SOURCE', 'VERSION', 'NOTE'],
      ['tools', 'active', 'builtin', '1.0.0', '-'],
      ['moon', 'pending', 'directory', '-', 'waits for sun'],
      ['@me/x', 'failed', 'package', '1.0.0', 'plugin "@me/x" could not be imported: boom (index.js:1); careful'],
      [''],
      ['moon, @me/x: full access.'],
      [''],
    ]);
    await terminal.run('plugin', 'list', '--json');
    expect(terminal.stdout()).to.include('"generation": 1');
  });

  it('say with the exit code whether the plugin runs now', async () => {
    await using server = await startApiServer();
    await using terminal = await openTerminal();
    await terminal.withServer(server.url);
    server.on('POST /api/v1/plugins/@me/x/retry', () => ({ ...rows[2], state: 'active', error: null, warnings: [] }));
    server.on('POST /api/v1/plugins/moon/retry', () => ({ ...rows[2], name: 'moon' }));
    server.on('POST /api/v1/plugins/sun/retry', (_seen, response) => refuse(response, 404, 'there is no plugin "sun"'));
    expect(await terminal.run('plugin', 'retry', '@me/x')).to.equal(0);
    expect(await terminal.run('plugin', 'retry', 'moon')).to.equal(1);
    expect(await terminal.run('plugin', 'retry', 'sun')).to.equal(1);
    expect(terminal.stdout()).to.equal(
      '@me/x is active.\nmoon is failed: plugin "@me/x" could not be imported: boom (index.js:1); careful\n',
    );
    expect(terminal.stderr()).to.equal('Error: there is no plugin "sun"\n');
  });
});

describe('oryxos plugin create', () => {
  it('writes a package and says what to add to the configuration', async () => {
    await using terminal = await workspace();
    expect(await terminal.run('plugin', 'create', '@me/oryxos-plugin-nice-weather')).to.equal(0);
    const directory = join(terminal.root, 'plugins/@me/oryxos-plugin-nice-weather');
    expect((await readdir(directory, { recursive: true })).toSorted()).to.deep.equal([
      'README.md',
      'index.js',
      'package.json',
      'test',
      'test/plugin.test.js',
    ]);
    expect(JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))).to.deep.include({
      name: '@me/oryxos-plugin-nice-weather',
      oryxos: { plugin: './index.js' },
      peerDependencies: { oryxos: '^1.2.3' },
    });
    expect(terminal.stdout()).to.include('  oryxos:\n    plugins:\n      "@me/oryxos-plugin-nice-weather": {}\n');
    expect(terminal.stdout()).to.include('add nice_weather to "tools:"');
    expect(await readdir(terminal.root)).not.to.include('application.yml');
  });

  it('never touches a configuration file or a directory that exists', async () => {
    await using terminal = await workspace();
    const file = join(terminal.root, 'application.yml');
    await writeFile(file, '# mine\n');
    expect(await terminal.run('plugin', 'create', 'hello', '--enable')).to.equal(0);
    expect(await readFile(file, 'utf8')).to.equal('# mine\n');
    expect(terminal.stdout()).to.include('Load it: add to');
    expect(await terminal.run('plugin', 'create', 'hello')).to.equal(1);
    expect(terminal.stderr()).to.include('There is something at');
  });

  it('takes no name that is a path, and needs a workspace', async () => {
    await using terminal = await openTerminal();
    for (const name of ['../x', 'a/b', '/x', 'node_modules', '@me', 'Hello', '.x'])
      expect(await terminal.run('plugin', 'create', name), name).to.equal(2);
    expect(await terminal.run('plugin', 'create', 'hello')).to.equal(1);
    expect(terminal.stderr()).to.include('There is no workspace');
  });

  it('names tools as models take them', () => {
    expect(['hello', 'oryxos-plugin-a.b', '@me/x--y', '---'].map(toolNameOf)).to.deep.equal(['hello', 'a_b', 'x_y', 'hello']);
  });

  it('makes a plugin that a running server loads, an agent calls, and an edit changes', async () => {
    const agents = { t: agentFile('t', 'tools: [hello]\nsettings: {on_fatal_tool_error: feedback}') };
    await using host = await startHost({ agents });
    await using terminal = await openTerminal();
    Object.assign(terminal.host, { version: packageVersion });
    expect(await terminal.run('plugin', 'create', 'hello', '--enable', '--root', host.root), terminal.stderr()).to.equal(0);
    await untilPlugin(host, 'hello', 'is active', ({ state }) => state === 'active');
    expect(await callTool(host, 't', 'hello', { who: 'Ada' })).to.equal('Hello, Ada.');
    const { 'index.js': code = '' } = pluginFiles('hello', packageVersion);
    await host.write('plugins/hello/index.js', code.replace('{who}.', '{who}!'));
    await until('the edit', async () => (await callTool(host, 't', 'hello', { who: 'Ada' })) === 'Hello, Ada!');
    await host.write('plugins/hello/index.js', code.replace("default: 'Hello'", "default: 'Welcome'"));
    await until('the new default', async () => (await callTool(host, 't', 'hello', { who: 'Ada' })) === 'Welcome, Ada.');
    await host.write('application.yml', 'oryxos: {plugins: {hello: {config: {greeting: Hi}}}}');
    await until('the setting', async () => (await callTool(host, 't', 'hello', { who: 'Ada' })) === 'Hi, Ada.');
  });
});
