/** Servers that are killed at any moment under a mixed load, and a checker that knows what was acknowledged. */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from '../durable/crash-checks.ts';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/index.ts';
import { startModelServer } from '../harness/model-server.ts';
import { scheduled } from '../plugins/schedules/fixture.ts';
import type { RunCase } from './corpus.ts';
import { decides, expectSound, expectWholeHistory, type historyOf } from './crash-cases.ts';
import { holds } from './holds.ts';
import { type Home, makeHome, startProgram } from './program.ts';

const TALKERS = 6;
const READY_MS = 10_000;

interface TurnView {
  readonly sessionId: string;
}
interface SessionView {
  readonly messages: Awaited<ReturnType<typeof historyOf>>;
}

/** What clients were told is done. */
interface Ledger {
  readonly said: Map<string, string[]>;
  readonly saved: string[];
  readonly listed: string[];
  /** What was asked for after the last one that is done: any of it may be done as well. */
  readonly maybeSaved: string[];
  /** Runs of the schedule of `c1`. */
  runs: number;
  number: number;
}

/** Does one thing after another until the server is gone. */
async function repeated(action: () => Promise<boolean>): Promise<void> {
  while (await action().catch(() => false)) {
    // The next one.
  }
}

function load(url: string, ledger: Ledger): Promise<unknown> {
  const talking = Array.from({ length: TALKERS }, async (_, client) => {
    const session = `web:u${client}:a1`;
    await request(url, 'POST', '/api/v1/sessions', { profile: 'a1', userId: `u${client}` }).catch(() => undefined);
    return repeated(async () => {
      const content = `m${(ledger.number += 1)}`;
      const { status } = await request(url, 'POST', `/api/v1/sessions/${session}/messages`, { content });
      if (status === 200) ledger.said.set(session, [...(ledger.said.get(session) ?? []), content]);
      return true;
    });
  });
  const saving = repeated(async () => {
    const description = `d${(ledger.number += 1)}`;
    ledger.maybeSaved.push(description);
    const { status } = await request(url, 'PUT', '/api/v1/agents/b1', { agentMarkdown: agentFile('b1', `description: ${description}`) });
    if (status !== 200) return true;
    ledger.saved.push(description);
    ledger.maybeSaved.length = 0;
    return true;
  });
  const listing = repeated(async () => {
    const value = `w${(ledger.number += 1)}.example.test`;
    const { status } = await request(url, 'POST', '/api/v1/sandbox/whitelist/http', { value });
    if (status === 200) ledger.listed.push(value);
    return true;
  });
  const running = repeated(async () => {
    const { status } = await request(url, 'POST', '/api/v2/agents/c1/schedules/s/run');
    if (status === 200) ledger.runs += 1;
    return true;
  });
  return Promise.all([...talking, saving, listing, running]);
}

/** What was acknowledged is there. */
async function check(url: string, home: Home, ledger: Ledger): Promise<void> {
  const lists = (await request(url, 'GET', '/api/v1/sandbox/whitelist')).data as { readonly http: readonly string[] };
  expect(ledger.listed.filter((value) => !lists.http.includes(value))).to.deep.equal([]);
  const { description } = (await request(url, 'GET', '/api/v1/agents/b1')).data as { readonly description: string };
  if (ledger.saved.length > 0) expect(description).to.be.oneOf([ledger.saved.at(-1), ...ledger.maybeSaved]);
  for (const [session, contents] of ledger.said) {
    const { messages } = (await request(url, 'GET', `/api/v1/sessions/${session}`)).data as SessionView;
    expectWholeHistory(messages.slice(messages.findIndex(({ role }) => role === 'user')));
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(new Set(users).size, 'each message once').to.equal(users.length);
    // The view shows the last hundred messages.
    expect(
      contents.slice(-5).filter((content) => !users.includes(content)),
      session,
    ).to.deep.equal([]);
  }
  const effects = existsSync(join(home.allowed, 'effects.log'))
    ? readFileSync(join(home.allowed, 'effects.log'), 'utf8').split('\n').filter(Boolean)
    : [];
  expect(
    effects.filter((line, index) => effects.indexOf(line) !== index),
    'effects that happened twice',
  ).to.deep.equal([]);
  const done = new Set(effects);
  const [task] = (await request(url, 'GET', '/api/v2/schedules')).data as readonly {
    readonly scheduleId: string;
    readonly runCount: number;
  }[];
  expect(task?.runCount, 'runs of the schedule').to.be.at.least(ledger.runs);
  expect(
    [...ledger.said.values()].flat().filter((content) => !done.has(content)),
    'acknowledged without effect',
  ).to.deep.equal([]);
}

/** `rounds` servers, each killed within 1.5 s of its start. */
export const killRandom = (rounds: number): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    await using home = await makeHome(
      model.baseUrl,
      ['append_file'],
      {},
      {
        'agents/b1/AGENT.md': agentFile('b1'),
        'agents/c1/AGENT.md': scheduled('c1', 'key: s, name: S, cron: "0 0 0 1 1 *", zone: UTC'),
      },
    );
    model.fallback = decides((input) => ({
      name: 'append_file',
      arguments: { path: join(home.allowed, 'effects.log'), content: `${input}\n` },
    }));
    const ledger: Ledger = { said: new Map(), saved: [], listed: [], maybeSaved: [], runs: 0, number: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const since = performance.now();
      await using program = await startProgram(home);
      expect(performance.now() - since, 'time of the start').to.be.below(READY_MS);
      if (round > 0) expectSound(home);
      const loading = load(program.url, ledger);
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 1_495));
      await program.stop('SIGKILL');
      await loading;
    }
    await using last = await startProgram(home);
    await idle(last.url);
    expectSound(home);
    await check(last.url, home, ledger);
    const runs = (await request(last.url, 'GET', '/api/v1/runs')).data as readonly TurnView[];
    expect(runs).to.deep.equal([]);
    expect((await request(last.url, 'POST', '/api/v1/sessions/web:u0:a1/messages', { content: 'the end' })).status).to.equal(200);
    expect([...ledger.said.values()].flat().length + ledger.saved.length + ledger.listed.length, 'operations').to.be.greaterThan(rounds);
  });
