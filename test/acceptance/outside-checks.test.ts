/** What clients, operators and the command line see of a whole OryxOS, where no other test looks at all of it at once. */
import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname, tmpdir } from 'node:os';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Home, makeHome, type Program, refusedProgram, startProgram } from '../attacks/program.ts';
import { expectNoRepeats, idle, linesOf } from '../durable/crash-checks.ts';
import { startServer } from '../durable/server-process.ts';
import { statelessModel } from '../durable/stateless-model.ts';
import { isBuilt, nodeArguments } from '../examples/installed-oryxos.ts';
import { agentFile, fakeClock, startHost, until } from '../harness/index.ts';
import { request } from '../harness/http-client.ts';
import { json, startModelServer } from '../harness/model-server.ts';
import { samplesIn } from '../plugins/metrics/samples.ts';

/** Every path of a directory, sorted. */
const pathsIn = async (directory: string): Promise<readonly string[]> => (await readdir(directory, { recursive: true })).sort();

describe('the outside of a host', function () {
  this.timeout(30_000);

  it('creates nothing anywhere for an agent whose name is a path', async () => {
    await using host = await startHost();
    const before = await pathsIn(host.home);
    for (const name of ['../x', '../../x', 'a/b', '..', '/tmp/x', 'a b']) {
      const body = { name, provider: 'mock', model: 'mock' };
      expect((await host.request('POST', '/api/v1/agents', body)).status, name).to.equal(400);
    }
    expect(await pathsIn(host.home)).to.deep.equal(before);
  });

  it('answers through the fallback of an agent whose own provider cannot be reached, and shows both attempts', async () => {
    const agent = '---\nname: a\nprovider: {name: closed, model: m, fallback: [{name: mock, model: mock}]}\n---\nHelp.\n';
    const providers = [{ name: 'closed', baseUrl: 'http://127.0.0.1:9/v1' }];
    await using model = await startModelServer();
    await using host = await startHost({ agents: { a: agent }, config: { 'oryxos.providers': providers }, modelUrl: model.baseUrl });
    const switches = async (): Promise<number | undefined> =>
      samplesIn((await host.request('GET', '/actuator/prometheus')).text).get('oryxos_fallback_switches_total{from="closed",to="mock"}');
    expect(await switches()).to.equal(0);

    const answer = await host.request('POST', '/api/v1/agents/a/invoke', { content: 'hello' });
    expect(answer.status).to.equal(200);
    expect(answer.data.reply).to.include('hello');
    const calls = (await host.request('GET', '/api/v1/audit/llm')).data as { provider: string; success: boolean; traceId: string }[];
    expect(calls.map(({ provider, success }) => `${provider} ${success}`).sort()).to.deep.equal(['closed false', 'mock true']);
    expect(calls.map(({ traceId }) => traceId)).to.deep.equal([answer.data.traceId, answer.data.traceId]);
    expect(await switches()).to.equal(1);
  });

  it('sends the stored key after an update that brought its mask or none, and no key after it was removed', async () => {
    await using model = await startModelServer();
    await using host = await startHost({ modelUrl: model.baseUrl });
    model.modelsReply = (asked, response) =>
      json({ data: asked.headers.authorization === 'Bearer sk-a-key-of-mine' ? [{ id: 'known' }] : [] })(asked, response);
    const models = async (): Promise<unknown> => (await host.request('POST', '/api/v1/providers/p/test')).data as unknown;
    await host.request('POST', '/api/v1/providers', { name: 'p', apiKey: 'sk-a-key-of-mine', baseUrl: model.baseUrl });
    for (const apiKey of ['****mine', '', undefined]) {
      await host.request('PUT', '/api/v1/providers/p', { apiKey, baseUrl: model.baseUrl, description: 'd' });
      expect(await models()).to.deep.equal({ ok: true, modelCount: 1, sampleModels: ['known'] });
    }
    await host.request('PUT', '/api/v1/providers/p', { apiKey: null, baseUrl: model.baseUrl });
    expect(await models()).to.deep.equal({ ok: true, modelCount: 0, sampleModels: [] });
    expect(model.others.at(-1)?.headers).to.not.have.property('authorization');
  });

  it('shows the instants of the dialect as the next runs of the schedules, and takes five fields for second 0', async () => {
    const vectors: Readonly<Record<string, string>> = {
      '0 0 9 * * MON-FRI': '2026-11-30T09:00:00.000Z',
      '0 0 0 L * *': '2026-12-31T00:00:00.000Z',
      '0 0 0 L-3 * *': '2026-12-28T00:00:00.000Z',
      '0 0 0 ? * MON#1': '2026-12-07T00:00:00.000Z',
      '0 0 0 ? * 5#2': '2026-12-11T00:00:00.000Z',
      '0 0 0 ? * FRIL': '2026-12-25T00:00:00.000Z',
      '0 0 0 13 * FRI': '2027-08-13T00:00:00.000Z',
      '0 5/20 * * * *': '2026-11-30T00:05:00.000Z',
      '0 9 * * *': '2026-11-30T09:00:00.000Z',
    };
    await using host = await startHost({ clock: fakeClock(Date.UTC(2026, 10, 30)) });
    const entries = Object.keys(vectors).map((cron, index) => `  - {key: k${index}, name: n, cron: "${cron}", zone: UTC, message: go}`);
    const agentMarkdown = agentFile('default', `tools: []\nschedules:\n${entries.join('\n')}`);
    expect((await host.request('PUT', '/api/v1/agents/default', { agentMarkdown })).status).to.equal(200);
    const { data } = await host.request('GET', '/api/v2/schedules');
    const shown = Object.fromEntries((data as { cron: string; nextRunAt: string }[]).map(({ cron, nextRunAt }) => [cron, nextRunAt]));
    expect(shown).to.deep.equal(vectors);
  });
});

describe('a server that is killed while an agent works that was triggered', function () {
  this.timeout(90_000);

  it('goes on after its restart: the execution succeeds, and nothing is done twice', async () => {
    await using model = await statelessModel();
    const home = await mkdtemp(join(tmpdir(), 'oryxos-crash-'));
    try {
      await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
      await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [append_line, peek]'));
      const first = await startServer(home, model.url, 'during_tool_execution:SIGKILL');
      const { data } = await request(first.url, 'POST', '/api/v1/agents/t/trigger', { content: 'x' });
      expect(data).to.include({ status: 'RUNNING' });
      await first.gone;

      await using second = await startServer(home, model.url);
      await idle(second.url);
      const executions = await until('the execution to end', async () => {
        const rows = (await request(second.url, 'GET', '/api/v1/agents/t/executions')).data as { id: number; status: string }[];
        return rows.every(({ status }) => status !== 'RUNNING') ? rows : undefined;
      });
      expect(executions).to.have.length(1);
      expect(executions[0]).to.include({ id: (data as { executionId: number }).executionId, status: 'SUCCESS', reason: null });
      await expectNoRepeats(home);
      expect((await linesOf(home)).at(-1)).to.equal('x-b');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

/** What a command printed, and how it ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the program in the directory with `ORYXOS_ROOT` set. */
function started(cwd: string, root: string, args: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(isBuilt ? '../../config/bin.js' : '../../config/bin.ts', import.meta.url));
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ORYXOS_ROOT: root };
  return spawn(process.execPath, [...nodeArguments, script, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a command to its end. */
async function oryxos(cwd: string, root: string, ...args: readonly string[]): Promise<Ended> {
  const child = started(cwd, root, args);
  const printed = { stdout: '', stderr: '' };
  child.stdout?.on('data', (piece: Buffer) => (printed.stdout += piece.toString()));
  child.stderr?.on('data', (piece: Buffer) => (printed.stderr += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}

describe('the program beside a running server', function () {
  this.timeout(90_000);
  let home: Home;
  let program: Program;
  before(async () => {
    home = await makeHome('http://127.0.0.1:9/v1', []);
    program = await startProgram(home, { args: ['--host', '0.0.0.0'] });
  });
  after(async () => {
    await program[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });
  const run = (...args: readonly string[]): Promise<Ended> => oryxos(home.home, home.root, ...args);

  it('warns once that there is no authentication when other machines can reach it', async () => {
    const warnings = program.output().match(/"level":"warn"[^\n]*no authentication/g);
    expect(warnings, program.output()).to.have.length(1);
    const { data } = await request(program.url.replace('0.0.0.0', '127.0.0.1'), 'GET', '/api/v1/info');
    expect((data as { warnings: string[] }).warnings.filter((warning) => warning.includes('no authentication'))).to.have.length(1);
  });

  it('refuses to serve a workspace twice, with 1, and names process, machine and URL of the one that does', async () => {
    const { code, output } = await refusedProgram(home);
    expect(code).to.equal(1);
    for (const part of [`pid ${program.child.pid}`, hostname(), program.url]) expect(output).to.include(part);
    expect((await request(program.url.replace('0.0.0.0', '127.0.0.1'), 'GET', '/api/v1/health')).status).to.equal(200);
  });

  it('lists the tools that the server has', async () => {
    const { code, stdout } = await run('tool', 'list', '--json');
    const { data } = await request(program.url.replace('0.0.0.0', '127.0.0.1'), 'GET', '/api/v1/tools');
    expect(code).to.equal(0);
    const names = (rows: readonly { name: string }[]): readonly string[] => rows.map(({ name }) => name);
    expect(names(JSON.parse(stdout) as { name: string }[])).to.deep.equal(names(data as { name: string }[]));
  });

  it('finds the workspace by ORYXOS_ROOT in every command', async () => {
    const status = JSON.parse((await run('status', '--json')).stdout) as { root: string; server: { url: string } };
    expect([status.root, status.server.url]).to.deep.equal([home.root, program.url]);
    expect(JSON.parse((await run('profile', 'list', '--json')).stdout)).to.have.length(2);
    expect((await run('init')).stdout).to.include(home.root);
    expect(await readdir(home.home)).to.not.include('.oryxos');
  });

  it('ends with 2 for commands that do not exist, with 1 for agents that do not, and deletes nothing by a path', async () => {
    expect(await run('profil', 'list')).to.include({ code: 2, stdout: '' });
    expect(await run('profile', 'show', 'none')).to.include({ code: 1, stdout: '' });
    const before = await pathsIn(home.root);
    for (const name of ['..', 'a1/../default']) expect((await run('profile', 'delete', name, '--yes')).code, name).to.equal(2);
    expect(await pathsIn(home.root)).to.deep.equal(before);
    expect(await readFile(join(home.root, 'agents/a1/AGENT.md'), 'utf8')).to.include('name: a1');
  });
});

describe('oryxos init and serve with ORYXOS_ROOT', function () {
  this.timeout(60_000);

  it('make a workspace there, once, and serve it', async () => {
    await using home = await makeHome('http://127.0.0.1:9/v1', []);
    const root = join(home.home, 'elsewhere');
    expect(await oryxos(home.home, root, 'init')).to.include({ code: 0, stderr: '' });
    const contents = async () =>
      Promise.all((await pathsIn(root)).map(async (path) => [path, await readFile(join(root, path)).catch(() => 'a directory')]));
    const before = await contents();
    expect(before.length).to.be.greaterThan(2);
    expect((await oryxos(home.home, root, 'init')).code).to.equal(0);
    expect(await contents()).to.deep.equal(before);

    const server = started(home.home, root, ['serve', '--port', '0']);
    try {
      const url = await until(
        'the server',
        async () => {
          const text = await readFile(join(root, 'server.json'), 'utf8').catch(() => '');
          return text.trimEnd().endsWith('}') ? (JSON.parse(text) as { url: string }).url : undefined;
        },
        30_000,
      );
      const { data } = await request(url, 'POST', '/api/v1/agents/default/invoke', { content: 'hello' });
      expect((data as { reply: string }).reply).to.include('hello');
      expect(await readdir(home.home)).to.not.include('.oryxos');
    } finally {
      server.kill('SIGKILL');
      await once(server, 'close');
    }
  });
});
