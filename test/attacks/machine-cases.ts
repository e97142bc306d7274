/** The machine around the server: descriptors, log files, file events. */
import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { agentFile, startHost, until } from '../harness/index.ts';
import { request } from '../harness/http-client.ts';
import { startModelServer } from '../harness/model-server.ts';
import type { RunCase } from './corpus.ts';
import { CannotRun, listOf } from './corpus.ts';
import { holds } from './holds.ts';
import { makeHome, startProgram } from './program.ts';

const MESSAGES = '/api/v1/agents/a1/session/messages';
const CONNECTIONS = 200;

/** The limit is set once the program runs: the runtime opens more than 64 files at once to load it. */
const fewDescriptors = (holdMs: number): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    await using home = await makeHome(model.baseUrl, ['append_file']);
    await using program = await startProgram(home);
    // Libraries are loaded when they are first used, which takes more than that as well.
    expect((await request(program.url, 'POST', MESSAGES, { content: 'before' })).status).to.equal(200);
    execFileSync('prlimit', ['--pid', String(program.child.pid), '--nofile=64:64']);
    const port = Number(new URL(program.url).port);
    const sockets: Socket[] = [];
    for (let number = 0; number < CONNECTIONS; number += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).write('GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
      sockets.push(socket);
    }
    await new Promise((resolve) => setTimeout(resolve, holdMs));
    for (const socket of sockets) socket.destroy();
    await until(
      'the server to accept again',
      async () => (await request(program.url, 'GET', '/api/v1/health').catch(() => undefined))?.status === 200,
      15_000,
    );
    const said = await until('a turn to be stored', async () => {
      const answer = await request(program.url, 'POST', MESSAGES, { content: 'go' });
      return answer.status === 200 ? answer : undefined;
    });
    expect(said.data).to.include({ reply: 'ok' });
    expect(program.child.exitCode).to.equal(null);
  });

const logsGone = holds(async () => {
  const agents = { a1: agentFile('a1', 'tools: [current_time]') };
  await using host = await startHost({ agents, config: { 'logging.level': 'debug', 'logging.file': true } });
  const logs = join(host.root, 'logs');
  const turn = async (): Promise<void> => {
    // A call that fails is a line of the log.
    host.model.willFail({ switchable: false });
    expect((await host.request('POST', '/api/v1/agents/default/invoke', { content: 'go' })).status).to.equal(503);
    host.model.willCall('current_time', { timezone: 'UTC' });
    expect((await host.request('POST', MESSAGES, { content: 'go' })).status).to.equal(200);
  };
  const written = (): boolean => existsSync(join(logs, 'oryxos.log')) && readFileSync(join(logs, 'oryxos.log'), 'utf8').length > 0;
  await turn();
  await until('a log', written);
  for (const ruin of [() => rmSync(join(logs, 'oryxos.log')), () => rmSync(logs, { recursive: true })]) {
    ruin();
    await until('the log to be there again', async () => {
      await turn();
      return written();
    });
  }
  // No line can be written now: where the directory has to be stands a file, and then a file that is always full.
  rmSync(logs, { recursive: true });
  writeFileSync(logs, '');
  for (let time = 0; time < 3; time += 1) await turn();
  rmSync(logs);
  mkdirSync(logs);
  execFileSync('ln', ['-s', '/dev/full', join(logs, 'oryxos.log')]);
  for (let time = 0; time < 3; time += 1) await turn();
  rmSync(join(logs, 'oryxos.log'));
  await until('the log to be there again', async () => {
    await turn();
    return written();
  });
});

/** Runs a case's shell text while the host lives in this process. */
async function shell(command: string): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: 'ignore' });
  await once(child, 'exit');
}

const halfWritten: RunCase = holds(async ({ input }) => {
  const text = agentFile('a1', 'tools: [read_file]');
  await using host = await startHost({ agents: { a1: text } });
  await host.write('agents/a1/AGENT.md.orig', text);
  const command = listOf(input)
    .flatMap(({ cmd }) => listOf(cmd as string))
    .join('\n');
  let going = true;
  const seen = new Set<string>();
  const looking = (async () => {
    while (going) {
      seen.add(JSON.stringify(host.kernel.registry('profile').get('a1')?.tools));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  // What the file says at last counts at once; there is no need to wait for it.
  await shell(command.replaceAll('$WS', host.root).replace(/; sleep \d+$/, ''));
  going = false;
  await looking;
  expect([...seen]).to.deep.equal(['["read_file"]']);
  expect((await host.request('GET', '/api/v1/agents/a1')).data).to.include({ status: 'ok' });
});

/** The limit of watches is set for this process alone, in a user namespace of its own. */
const watcherOverflow = (full: boolean): RunCase =>
  holds(async ({ input }) => {
    const limited = ['unshare', '-r', 'sh', '-c', 'echo 64 > /proc/sys/user/max_inotify_watches; exec "$@"', 'sh'];
    try {
      execFileSync('unshare', [...limited.slice(1), 'true'], { stdio: 'ignore' });
    } catch {
      throw new CannotRun('the number of watches cannot be limited without a user namespace');
    }
    const rounds = full ? 3_000 : 300;
    const command = listOf(input)
      .flatMap(({ cmd }) => listOf(cmd as string))
      .join('\n');
    const config = full ? {} : { watch: { 'reconcile-seconds': 2 } };
    await using home = await makeHome('http://127.0.0.1:9/v1', [], config);
    await using program = await startProgram(home, { through: limited });
    await shell(
      command
        .replaceAll('$WS', home.root)
        .replaceAll('3000', String(rounds))
        .replace(/; sleep \d+$/, ''),
    );
    const last = await until(
      'the agent "last"',
      async () => {
        const { data } = await request(program.url, 'GET', '/api/v1/agents');
        return (data as readonly { readonly name: string; readonly status: string }[]).find(({ name }) => name === 'last');
      },
      full ? 35_000 : 10_000,
    );
    expect(last.status).to.equal('ok');
    expect(program.output()).to.match(/"level":"warn"[^\n]*watch/);
    expect(program.child.exitCode).to.equal(null);
  });

/** What the machine does to the server. `full` takes the times and numbers of the corpus. */
export const machineCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  'durable-fd-limit': fewDescriptors(full ? 5_000 : 500),
  'durable-log-rotate': logsGone,
  'durable-half-agent-md': halfWritten,
  'durable-watcher-overflow': watcherOverflow(full),
});
