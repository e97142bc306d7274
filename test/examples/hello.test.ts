import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pluginFiles } from '../../adapters/cli/plugin-template.ts';
import { packageRoot, packageVersion } from '../../config/package-root.ts';
import { agentFile, startHost, type TestHost, until } from '../harness/index.ts';
import { callTool, pluginsYaml, untilPlugin, viewOf } from '../plugins/loader/plugin-files.ts';
import { installOryxos, nodeArguments } from './installed-oryxos.ts';

const run = promisify(execFile);
const NAME = 'oryxos-plugin-hello';
const example = join(packageRoot, 'examples', NAME);
const agents = { t: agentFile('t', 'tools: [greet_from_list]\nsettings: {on_fatal_tool_error: feedback}') };
const section = { [NAME]: { config: { greeting: 'Welcome', doNotGreet: ['Scrooge'] } } };

/** Everything that the example promises, on a host where it runs. */
async function expectToWork(host: TestHost): Promise<void> {
  await host.write('guests.txt', 'Ada\nGrace\n');
  const greet = (path: string): Promise<string> => callTool(host, 't', 'greet_from_list', { path });
  expect(await greet(join(host.root, 'guests.txt'))).to.equal('Welcome, Ada!\nWelcome, Grace!');
  expect(await greet('/etc/passwd')).to.include('not on the file whitelist');
  expect(await greet(join(host.root, 'scrooge.txt'))).to.include('Scrooge wants to be left alone');
  expect((await host.request('GET', '/api/v1/hello/Ada')).data).to.deep.equal({ text: 'Welcome, Ada!' });
  expect((await viewOf(host, NAME))?.effects).to.deep.equal([
    'tool greet_from_list',
    'route GET /api/v1/hello/{who}',
    'notifyAdapter hello',
    'tap beforeToolCall',
  ]);
}

describe('the example plugin', function () {
  this.timeout(120_000);
  let scratch = '';
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'oryxos-example-'));
  });
  after(() => rm(scratch, { recursive: true }));

  it('packs to what it needs, and works when it is installed into an empty workspace', async () => {
    const npm = (...args: readonly string[]) =>
      run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: example });
    const { stdout } = await npm('pack', '--json', '--pack-destination', scratch);
    const [packed] = JSON.parse(stdout) as readonly { filename: string; files: readonly { path: string }[] }[];
    expect(packed?.files.map(({ path }) => path).toSorted()).to.deep.equal([
      'README.md',
      'index.js',
      'lib/greet-tool.js',
      'lib/hello-adapter.js',
      'lib/hello-route.js',
      'lib/mentions.js',
      'package.json',
    ]);
    await using host = await startHost({ agents });
    await mkdir(join(host.root, 'plugins'));
    await npm('install', '--prefix', join(host.root, 'plugins'), join(scratch, packed?.filename ?? ''));
    expect(await readdir(join(host.root, 'plugins/node_modules')))
      .to.include(NAME)
      .and.not.include('oryxos');
    await host.write('application.yml', pluginsYaml(section));
    const view = await untilPlugin(host, NAME, 'is active', ({ state }) => state === 'active');
    expect(view).to.include({ source: 'package', version: '1.0.0' });
    await expectToWork(host);
    await host.write('application.yml', '');
    await until('it to leave', async () => (await host.request('GET', '/api/v1/hello/Ada')).status === 404);
  });

  it('works as a directory, and an edit of one of its files is live', async () => {
    await using host = await startHost({ agents });
    await cp(example, join(host.root, 'plugins', NAME), { recursive: true });
    await host.write('application.yml', pluginsYaml(section));
    await untilPlugin(host, NAME, 'is active', ({ state }) => state === 'active');
    await expectToWork(host);
    const route = await readFile(join(example, 'lib/hello-route.js'), 'utf8');
    await host.write(`plugins/${NAME}/lib/hello-route.js`, route.replace('${params.who}!', '${params.who}, at last!'));
    const text = async (): Promise<unknown> => ((await host.request('GET', '/api/v1/hello/Ada')).data as { text?: string } | null)?.text;
    await until('the edit', async () => (await text()) === 'Welcome, Ada, at last!');
  });

  it('passes its own tests, as a plugin that was just created passes its', async () => {
    await installOryxos(scratch);
    await cp(example, join(scratch, 'hello'), { recursive: true });
    for (const [path, content] of Object.entries(pluginFiles('new', packageVersion))) {
      await mkdir(dirname(join(scratch, 'new', path)), { recursive: true });
      await writeFile(join(scratch, 'new', path), content);
    }
    for (const [directory, passed] of [
      ['hello', 6],
      ['new', 1],
    ] as const) {
      const { stdout } = await run(process.execPath, [...nodeArguments, '--test', '--test-reporter=tap'], {
        cwd: join(scratch, directory),
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      expect(stdout).to.include(`# pass ${passed}`).and.include('# fail 0');
    }
  });

  it('is made for this version of OryxOS', async () => {
    const manifest = JSON.parse(await readFile(join(example, 'package.json'), 'utf8')) as { peerDependencies: { oryxos: string } };
    expect(manifest.peerDependencies.oryxos).to.equal(`^${packageVersion.split('.').slice(0, 2).join('.')}.0`);
  });
});
