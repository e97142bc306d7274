/** kill -9 and its relatives, on the program itself. */
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from '../durable/crash-checks.ts';
import { request } from '../harness/http-client.ts';
import { type ModelReply, type ModelServer, callsTools, says, startModelServer } from '../harness/model-server.ts';
import { until } from '../harness/until.ts';
import type { RunCase } from './corpus.ts';
import { Unsupported } from './corpus.ts';
import { holds } from './holds.ts';
import { type Home, makeHome, type Program, startProgram } from './program.ts';

const MESSAGES = '/api/v1/agents/a1/session/messages';
const READY_MS = 10_000;

interface Message {
  readonly role: string;
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string }[];
}
interface ModelMessage {
  readonly role: string;
  readonly content: string;
}

/** Says "final" to a tool's result and makes the call otherwise: asked again, it answers the same. */
export const decides =
  (call: (input: string) => { readonly name: string; readonly arguments: unknown }): ModelReply =>
  (asked, response) => {
    const messages = (asked.body as { readonly messages: readonly ModelMessage[] }).messages;
    const input = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const reply = messages.at(-1)?.role === 'tool' ? says('final') : callsTools([{ id: 'c1', ...call(input) }]);
    return reply(asked, response);
  };

/** The history is whole: every call of a tool has exactly one result, right behind it. */
export function expectWholeHistory(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect(message.toolCallId).to.equal(open.shift());
    else expect(open, 'calls without a result').to.deep.equal([]);
    if (message.role === 'assistant') open = message.toolCalls.map(({ id }) => id);
  }
  expect(open).to.deep.equal([]);
}

/** SQLite finds nothing wrong; looked at from another process, as it is now. */
export function expectSound({ root }: Home): void {
  const db = new Database(join(root, 'oryxos.db'), { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).to.equal('ok');
  db.close();
}

export const historyOf = async (url: string): Promise<readonly Message[]> =>
  ((await request(url, 'GET', '/api/v1/agents/a1/session')).data as { readonly messages: readonly Message[] }).messages;

/** Starts the program again within the time that is promised, waits for what was cut off, and looks at the whole. */
async function restarted(home: Home) {
  const since = performance.now();
  const program = await startProgram(home);
  expect(performance.now() - since, 'time of the restart').to.be.below(READY_MS);
  await idle(program.url);
  expectSound(home);
  return program;
}

const effects = ({ allowed }: Home): number => {
  try {
    return readFileSync(join(allowed, 'effects.log'), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
};

interface Aftermath {
  readonly home: Home;
  readonly url: string;
  readonly model: ModelServer;
  readonly messages: readonly Message[];
  readonly outcomes: readonly string[];
}

/** What each moment promises beside the promises of all. */
const MOMENTS: Readonly<Record<string, (after: Aftermath) => void>> = {
  after_user_msg_persisted: ({ home, model, outcomes }) =>
    expect([effects(home), model.requests.length, outcomes]).to.deep.equal([1, 2, ['success', 'success']]),
  after_llm_response_before_persist: ({ home, model, outcomes }) => {
    expect([effects(home), model.requests.length]).to.deep.equal([1, 3]);
    expect([...outcomes].sort()).to.deep.equal(['interrupted', 'success', 'success']);
  },
  after_tool_call_persisted: ({ home, model }) => expect([effects(home), model.requests.length]).to.deep.equal([1, 2]),
  during_tool_execution: ({ home, messages }) => {
    expect(effects(home)).to.be.at.most(1);
    expect(messages.find(({ role }) => role === 'tool')?.content).to.match(/unknown/i);
  },
  after_result_persisted: ({ home, model, messages }) => {
    expect([effects(home), model.requests.length]).to.deep.equal([1, 2]);
    expect(messages.find(({ role }) => role === 'tool')?.content).to.include('effects.log');
  },
  after_reply_persisted_before_response: ({ home, model }) => expect([effects(home), model.requests.length]).to.deep.equal([1, 2]),
};

const killedAt = (moment: string): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    await using home = await makeHome(model.baseUrl, ['append_file']);
    model.fallback = decides(() => ({ name: 'append_file', arguments: { path: join(home.allowed, 'effects.log'), content: 'E\n' } }));
    await using first = await startProgram(home, { env: { ORYXOS_FAILPOINT: `${moment}:SIGKILL` } });
    const key = { 'idempotency-key': 'once' };
    const answer = await request(first.url, 'POST', MESSAGES, { content: 'go' }, key).catch(() => undefined);
    if (answer !== undefined) await first.stop('SIGKILL');
    expect(answer, 'the process was killed').to.equal(undefined);
    expect(await first.gone).to.equal(null);
    await using second = await restarted(home);
    const messages = await historyOf(second.url);
    expectWholeHistory(messages);
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).to.deep.equal(['go']);
    expect(messages.filter(({ content }) => content === 'final')).to.have.length(1);
    const rows = (await request(second.url, 'GET', '/api/v1/audit/llm')).data as readonly { readonly outcome: string }[];
    const outcomes = rows.map(({ outcome }) => outcome);
    MOMENTS[moment]?.({ home, url: second.url, model, messages, outcomes });
    const asked = model.requests.length;
    const replay = await request(second.url, 'POST', MESSAGES, { content: 'go' }, key);
    expect([replay.status, (replay.data as { reply: string }).reply]).to.deep.equal([200, 'final']);
    expect(model.requests.length, 'a repeated request starts no second run').to.equal(asked);
    expect((await request(second.url, 'POST', MESSAGES, { content: 'again' })).status).to.equal(200);
  });

const isRunning = (command: string): boolean =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .some((line) => line.endsWith(`/${command}`) || line === command);

/** A run that is killed while a program of its own runs. The programs of protocol servers are not there yet. */
const orphans = holds(async () => {
  await using model = await startModelServer();
  await using home = await makeHome(model.baseUrl, ['shell']);
  const seconds = String(200_000 + process.pid);
  model.fallback = decides(() => ({ name: 'shell', arguments: { executable: 'sleep', arguments: [seconds] } }));
  const running = (): boolean => isRunning(`sleep ${seconds}`);
  await using first = await startProgram(home);
  const cut = request(first.url, 'POST', MESSAGES, { content: 'go' }).catch(() => undefined);
  await until('the child to run', running, 15_000);
  await first.stop('SIGKILL');
  await cut;
  await using second = await restarted(home);
  expectWholeHistory(await historyOf(second.url));
  await until('no child to be left', () => !running());
  throw new Unsupported('MCP servers; that shell leaves no child has been asserted');
});

/** A polite end in the middle of a program that a run has started, and, `full`, one that takes the whole time which is given to runs. */
const sigterm = (full: boolean): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    await using home = await makeHome(model.baseUrl, ['shell']);
    const seconds = String(100_000 + process.pid);
    model.fallback = decides(() => ({ name: 'shell', arguments: { executable: 'sleep', arguments: [seconds] } }));
    const running = (): boolean => isRunning(`sleep ${seconds}`);
    if (full) await drained(home, running);
    await forced(home, running);
    await using last = await restarted(home);
    expectWholeHistory(await historyOf(last.url));
    await until('no child to be left', () => !running());
  });

/** Asks for a run that takes long, and then for the end. */
async function endedInRun(program: Program, running: () => boolean): Promise<void> {
  void request(program.url, 'POST', MESSAGES, { content: 'go' }).catch(() => undefined);
  await until('the child to run', running, 15_000);
  program.child.kill('SIGTERM');
  const invoke = async () =>
    request(program.url, 'POST', '/api/v1/agents/default/invoke', { content: 'late' }).catch(() => ({ status: 503 }));
  await until('nothing to be accepted', async () => (await invoke()).status === 503);
}

async function drained(home: Home, running: () => boolean): Promise<void> {
  await using program = await startProgram(home);
  const since = performance.now();
  await endedInRun(program, running);
  expect(await program.gone).to.equal(0);
  expect(performance.now() - since).to.be.within(8_000, 15_000);
  expect(running(), 'the child is dead').to.equal(false);
  await using next = await restarted(home);
  expectWholeHistory(await historyOf(next.url));
}

async function forced(home: Home, running: () => boolean): Promise<void> {
  await using program = await startProgram(home);
  await endedInRun(program, running);
  // Closer together they count as one.
  await new Promise((resolve) => setTimeout(resolve, 600));
  const since = performance.now();
  expect(await program.stop('SIGTERM')).to.equal(1);
  expect(performance.now() - since, 'a second signal ends at once').to.be.below(3_000);
}

/** Nothing in the core throws in a timer, so the fault is put into the process from outside. */
const uncaught = (faults: readonly string[]): RunCase =>
  holds(async () => {
    for (const fault of faults) {
      await using model = await startModelServer();
      await using home = await makeHome(model.baseUrl, []);
      const code = `process.on('SIGUSR2', () => setTimeout(() => { const error = new Error('core fault sk-abcdefghijklmnop1234'); ${fault}; }, 1))`;
      await using program = await startProgram(home, {
        env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"` },
      });
      const talked = await request(program.url, 'POST', MESSAGES, { content: 'before' });
      expect(talked.status).to.equal(200);
      program.child.kill('SIGUSR2');
      expect(await program.gone).to.be.greaterThan(0);
      expect(program.output()).to.include('core fault');
      expect(program.output()).to.include('data:text/javascript').and.not.include('sk-abcdefghijklmnop1234');
      expect(readFileSync(join(home.root, 'logs/oryxos.log'), 'utf8'))
        .to.include('core fault')
        .and.not.include('sk-abcdefghijklmnop1234');
      await using second = await restarted(home);
      const messages = await historyOf(second.url);
      expect(messages.map(({ content }) => content)).to.deep.equal(['before', 'ok']);
    }
  });

/** The file is whole after every kill; what was begun is cleared away by the next start. */
const agentFileKilled = (rounds: number): RunCase =>
  holds(async () => {
    await using home = await makeHome('http://127.0.0.1:9/v1', []);
    const file = join(home.root, 'agents/a1/AGENT.md');
    const first = readFileSync(file, 'utf8');
    const texts = ['x', 'y'].map((letter) => `${first}${letter.repeat(200_000)}\n`);
    for (let round = 0; round < rounds; round += 1) {
      await using program = await startProgram(home);
      const saving = save(program.url, texts);
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 150));
      await program.stop('SIGKILL');
      await saving;
      expect([first, ...texts].includes(readFileSync(file, 'utf8')), 'the file is one of those that were written').to.equal(true);
    }
    await using last = await restarted(home);
    const left = readdirSync(home.root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));
    expect(left).to.deep.equal([]);
    expect((await request(last.url, 'GET', '/api/v1/agents/a1')).data).to.include({ status: 'ok' });
  });

async function save(url: string, texts: readonly string[]): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const answer = await request(url, 'PUT', '/api/v1/agents/a1', { agentMarkdown: texts[turn % 2] }).catch(() => undefined);
    if (answer === undefined) return;
  }
}

/** The cases in which a process dies. `full` plays as many rounds as the corpus asks for. */
export const crashCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  ...Object.fromEntries(Object.keys(MOMENTS).map((moment) => [`durable-kill-${moment.replaceAll('_', '-')}`, killedAt(moment)])),
  'durable-orphan-children': orphans,
  'durable-sigterm': sigterm(full),
  'durable-uncaught': uncaught(full ? ['throw error', 'Promise.reject(error)'] : ['throw error']),
  'durable-agent-md-crash-write': agentFileKilled(full ? 50 : 2),
});
