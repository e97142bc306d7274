/** What README and ARCHITECTURE say is so: every command is run, every file that is named exists. */
import { expect } from 'chai';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.ts';
import { type ModelServer, startModelServer } from './harness/model-server.ts';
import { agentFile, startHost } from './harness/start-host.ts';
import { until } from './harness/until.ts';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const built = import.meta.url.endsWith('.js');
const program = [
  ...(built ? [] : [`--import=${import.meta.resolve('tsx')}`]),
  join(packageRoot, built ? 'dist/config/bin.js' : 'config/bin.ts'),
];

/** The commands in a text's shell blocks, one per line, continued lines joined. */
function commandsIn(file: string): readonly string[] {
  const blocks = [...read(file).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block.replaceAll('\\\n', ' '));
  return blocks.flatMap((block) => block.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')));
}

/** What a person types at the prompt of a command. */
const TYPED: Readonly<Record<string, string>> = {
  'npx oryxos chat': 'hello\nremember that I like tea\n/quit\n',
  'npx oryxos provider add': 'sk-typed-by-a-person\n',
  'npx oryxos notify add': 'https://robot.example.com/hook/k1\n',
};
/** A hidden prompt needs a terminal. */
const WITHOUT_TERMINAL: Readonly<Record<string, string>> = { 'npx oryxos notify add': ' --url-stdin' };
/** Commands that other tests and every continuous run execute: here they would start themselves. */
const ELSEWHERE = ['npm start', 'npm test'];

describe('README.md', function () {
  this.timeout(120_000);
  let home = '';
  let server: ChildProcess | undefined;
  let model: ModelServer;
  let url = '';
  /** A group robot that takes everything. */
  const robot = createServer((_, response) => void response.end('{"code":0}'));

  before(async () => {
    robot.listen(0, '127.0.0.1');
    await once(robot, 'listening');
    model = await startModelServer();
    home = await mkdtemp(join(tmpdir(), 'oryxos-readme-'));
    server = spawn(process.execPath, [...program, 'serve', '--port', '0'], { cwd: home, stdio: 'ignore' });
    url = await until('the server', () => serverUrl(home), 30_000);
  });
  after(async () => {
    server?.kill('SIGTERM');
    await until('the server to stop', () => server?.exitCode !== null || server.signalCode !== null, 15_000);
    await model[Symbol.asyncDispose]();
    robot.close();
    await rm(home, { recursive: true, force: true });
  });

  it('has the same commands in both languages, in the same order', () => {
    expect(commandsIn('README.zh-CN.md')).to.deep.equal(commandsIn('README.md'));
  });

  it('names scripts that exist', () => {
    const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;
    const named = [...read('README.md').matchAll(/`npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).to.deep.equal([]);
  });

  for (const command of commandsIn('README.md').filter((line) => !ELSEWHERE.includes(line))) {
    it(`"${command}" does what it says`, async function () {
      if (command.startsWith('curl') && spawnSync('curl', ['--version']).error) this.skip();
      const line = command
        .replaceAll('http://127.0.0.1:8080', url)
        .replaceAll('https://api.deepseek.com', model.origin)
        .replaceAll('npx oryxos', [process.execPath, ...program].map((word) => `'${word}'`).join(' '))
        .replace(/^curl /, 'curl -fsS ');
      const robotUrl = `http://127.0.0.1:${(robot.address() as AddressInfo).port}/`;
      const input = beginning(TYPED, command).replace('https://robot.example.com/', robotUrl);
      const { status, stdout, stderr } = await run(line + beginning(WITHOUT_TERMINAL, command), home, input);
      expect({ command, status, stderr: status === 0 ? '' : stderr + stdout }).to.deep.equal({ command, status: 0, stderr: '' });
      if (command.startsWith('curl')) expect(JSON.parse(stdout)).to.include({ code: 0 });
    });
  }
});

describe('the YAML of README.md', () => {
  it('is the same in both languages, and right in an AGENT.md', async () => {
    const blocks = (file: string): readonly string[] => [...read(file).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    expect(blocks('README.zh-CN.md')).to.deep.equal(blocks('README.md'));
    expect(blocks('README.md')).to.have.length(1);
    await using host = await startHost({ agents: { helper: agentFile('helper', `tools: []\n${blocks('README.md').join('\n')}`) } });
    const { data } = await host.request('GET', '/api/v1/agents/helper');
    expect(data).to.include({ status: 'ok', error: null });
    expect(data.warnings).to.deep.equal(['line 13: channel "team" is unknown and is not told of failures']);
    expect((await host.request('GET', '/api/v2/schedules')).data[0]).to.include({ key: 'morning', zone: 'Asia/Shanghai', enabled: true });
  });
});

describe('ARCHITECTURE.md', () => {
  it('names files and folders that exist', () => {
    const names = [...read('ARCHITECTURE.md').matchAll(/`((?:kernel|plugins|adapters|config|test|scripts)\/[A-Za-z0-9/._-]*)`/g)].map(
      ([, name = '']) => name,
    );
    expect(names.length).to.be.greaterThan(15);
    expect(names.filter((name) => !existsSync(join(packageRoot, name)))).to.deep.equal([]);
  });

  it('names files of the kernel and the engine that exist', () => {
    const known = new Set(
      ['kernel', 'plugins/engine', 'plugins/agents', 'plugins/conversations', 'config'].flatMap((folder) =>
        readdirSync(join(packageRoot, folder)),
      ),
    );
    const named = [...read('ARCHITECTURE.md').matchAll(/`([a-z-]+\.ts)`/g)].map(([, name = '']) => name);
    const anywhere = ['index.ts', 'contract.ts', 'routes.ts', 'migrations.ts'];
    expect(named.filter((name) => !known.has(name) && !anywhere.includes(name))).to.deep.equal([]);
  });
});

/** What is kept for commands that begin like this one; "" for none. */
const beginning = (texts: Readonly<Record<string, string>>, command: string): string =>
  Object.entries(texts).find(([start]) => command.startsWith(start))?.[1] ?? '';

/** Runs a line in a shell to its end. */
async function run(line: string, cwd: string, input: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn('sh', ['-c', line], { cwd });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
  child.stdin.end(input);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, ...printed };
}

function serverUrl(home: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(home, '.oryxos/server.json'), 'utf8')) as { url: string }).url;
  } catch {
    return undefined;
  }
}
