import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boot } from '../../config/boot.ts';
import type { Store } from '../../kernel/index.ts';
import { expectNoRepeats, idle } from '../durable/crash-checks.ts';
import { linesPlugin } from '../durable/lines-plugin.ts';
import { type ServerProcess, startServer } from '../durable/server-process.ts';
import { type StatelessModel, statelessModel } from '../durable/stateless-model.ts';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/start-host.ts';

const KILLS = 100;
const CLIENTS = 8;
const MAX_PAUSE_MS = 1_500;

interface TurnRow {
  readonly id: string;
  readonly session_id: string;
  readonly input: string;
  readonly status: string;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly ended_at: number | null;
}

/** Clients that talk, each in its own session, until the server dies. Resolves with what was answered with 200. */
async function talk(server: ServerProcess, round: number, name: () => string): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const user = `u${client}-${round}`;
    const created = await request(server.url, 'POST', '/api/v1/sessions', { profile: 't', userId: user }).catch(() => undefined);
    for (let alive = created !== undefined; alive; ) {
      const content = name();
      const answer = await request(server.url, 'POST', `/api/v1/sessions/web:${user}:t/messages`, { content }).catch(() => undefined);
      if (answer?.status === 200) acknowledged.push(content);
      alive = answer !== undefined;
    }
  });
  await Promise.all(clients);
  return acknowledged;
}

async function lastServerSettles(home: string, model: StatelessModel): Promise<void> {
  await using last = await startServer(home, model.url);
  await idle(last.url);
}

/** Every run has ended once, with its message and, when it completed, its answer in the history, once. */
async function expectEveryRunEnded(store: Store, acknowledged: readonly string[]): Promise<void> {
  const turns = await store.all<TurnRow>('SELECT id, session_id, input, status, attempts, error_code, ended_at FROM turns');
  expect(turns.filter(({ ended_at: endedAt }) => endedAt === null)).to.deep.equal([]);
  expect(new Set(turns.map(({ input }) => input)).size).to.equal(turns.length);
  const completed = new Set(turns.filter(({ status }) => status === 'completed').map(({ input }) => input));
  expect(acknowledged.filter((input) => !completed.has(input))).to.deep.equal([]);
  for (const turn of turns.filter(({ status }) => status !== 'completed')) {
    expect(turn, turn.input).to.include({ status: 'interrupted', error_code: 'ORYX_INTERRUPTED', attempts: 4 });
  }
  const said = await store.all<{ role: string; content: string; turn_id: string }>('SELECT role, content, turn_id FROM messages');
  for (const turn of turns) {
    const own = said.filter(({ turn_id: turnId }) => turnId === turn.id);
    expect(own.filter(({ role }) => role === 'user').map(({ content }) => content)).to.deep.equal([turn.input]);
    const answers = own.filter(({ content }) => content === `done ${turn.input}`).length;
    expect(answers).to.equal(turn.status === 'completed' ? 1 : 0);
  }
}

describe('kill -9 under load', () => {
  it(`at ${KILLS} random moments: every accepted run ends once, what was acknowledged is there, no effect happens twice`, async function () {
    this.timeout(40 * 60_000);
    await using model = await statelessModel();
    const home = await mkdtemp(join(tmpdir(), 'oryxos-kill-'));
    await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
    await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [append_line, peek]'));
    const acknowledged: string[] = [];
    let number = 0;
    try {
      for (let round = 0; round < KILLS; round += 1) {
        const server = await startServer(home, model.url);
        const talking = talk(server, round, () => `m${(number += 1)}`);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
        await server.kill('SIGKILL');
        acknowledged.push(...(await talking));
      }
      await lastServerSettles(home, model);
      await expectNoRepeats(home);
      const host = await boot({ mode: 'embedded', root: join(home, 'workspace'), cwd: home, env: {}, plugins: [linesPlugin(home)] });
      try {
        await expectEveryRunEnded(host.kernel.service('store'), acknowledged);
      } finally {
        await host.close();
      }
      expect(acknowledged.length).to.be.greaterThan(KILLS);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
