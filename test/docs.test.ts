/** What README and ARCHITECTURE say is so: every command is run, every file that is named exists. */
import { expect } from 'chai';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.ts';
import { type ModelServer, startModelServer } from './harness/model-server.ts';
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
};
/** Commands that other tests and every continuous run execute: here they would start themselves. */
const ELSEWHERE = ['npm start', 'npm test'];

describe('README.md', function () {
  this.timeout(120_000);
  let home = '';
  let server: ChildProcess | undefined;
  let model: ModelServer;
  let url = '';

  before(async () => {
    model = await startModelServer();
    home = await mkdtemp(join(tmpdir(), 'oryxos-readme-'));
    server = spawn(process.execPath, [...program, 'serve', '--port', '0'], { cwd: home, stdio: 'ignore' });
    url = await until('the server', () => serverUrl(home), 30_000);
  });
  after(async () => {
    server?.kill('SIGTERM');
    await until('the server to stop', () => server?.exitCode !== null || server.signalCode !== null, 15_000);
    await model[Symbol.asyncDispose]();
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
      const input = Object.entries(TYPED).find(([start]) => command.startsWith(start))?.[1] ?? '';
      const { status, stdout, stderr } = await run(line, home, input);
      expect({ command, status, stderr: status === 0 ? '' : stderr + stdout }).to.deep.equal({ command, status: 0, stderr: '' });
      if (command.startsWith('curl')) expect(JSON.parse(stdout)).to.include({ code: 0 });
    });
  }
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
