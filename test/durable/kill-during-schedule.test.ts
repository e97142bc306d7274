import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/start-host.ts';
import { until } from '../harness/until.ts';
import { expectNoRepeats, expectWholeTurns, linesOf } from './crash-checks.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { type StatelessModel, statelessModel } from './stateless-model.ts';

const WAIT_MS = 60_000;
/** How far ahead the slot lies when it is declared, and what is left of that at least when the server has it. */
const AHEAD_MS = 3_000;
const SOON_MS = 60_000;

interface ScheduleView {
  readonly scheduleId: string;
  readonly nextRunAt: string | null;
  readonly lastStatus: string | null;
  readonly runCount: number;
}

interface RowView {
  readonly status: string;
  readonly slotAt: string;
  readonly count: number;
  readonly traceId: string;
}

const read = async <T>(url: string, path: string): Promise<T> => (await request(url, 'GET', path)).data as T;
const rowsOf = (url: string, id: string): Promise<readonly RowView[]> => read(url, `/api/v2/schedules/${id}/executions`);

/** Gives the agent a schedule with one slot, which comes in a moment, and none for a year after it. */
async function declareSlot(url: string): Promise<{ readonly id: string; readonly slotAt: string }> {
  return await until(
    'a slot that comes soon',
    async () => {
      const at = new Date(Math.ceil((Date.now() + AHEAD_MS) / 1000) * 1000);
      const cron = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`;
      const entry = `  - {key: k, name: K, cron: "${cron}", zone: UTC, message: x}`;
      const agentMarkdown = agentFile('t', `tools: [append_line, peek]\nschedules:\n${entry}`);
      expect((await request(url, 'PUT', '/api/v1/agents/t', { agentMarkdown })).status).to.equal(200);
      const [schedule] = await read<readonly ScheduleView[]>(url, '/api/v2/schedules');
      const isSoon = Date.parse(schedule?.nextRunAt ?? '') - Date.now() < SOON_MS;
      return schedule !== undefined && isSoon ? { id: schedule.scheduleId, slotAt: at.toISOString() } : undefined;
    },
    WAIT_MS,
  );
}

/** The slot ran once, everything about it is closed, and all records say the same. */
async function expectRanOnce(
  url: string,
  home: string,
  { id, slotAt }: { readonly id: string; readonly slotAt: string },
  isToolLost: boolean,
): Promise<void> {
  const rows = await until(
    'the row to be closed',
    async () => {
      const all = await rowsOf(url, id);
      return all.length > 0 && all.every(({ status }) => status !== 'running') ? all : undefined;
    },
    WAIT_MS,
  );
  expect(rows, JSON.stringify(rows)).to.have.length(1);
  expect(rows[0], JSON.stringify(rows[0])).to.include({ status: 'success', slotAt, count: 1 });
  const [schedule] = await read<readonly ScheduleView[]>(url, '/api/v2/schedules');
  expect(schedule).to.include({ runCount: 1, lastStatus: 'success' });
  const executions = await read<readonly { readonly status: string; readonly traceId: string }[]>(url, '/api/v1/agents/t/executions');
  expect(executions.map(({ status, traceId }) => [status, traceId])).to.deep.equal([['SUCCESS', rows[0]?.traceId]]);
  await expectWholeTurns(url, `schedule:${id}`, ['x']);
  await expectNoRepeats(home);
  // Nobody knows whether a tool that was at work has had its effect, so it is not called again.
  if (!isToolLost) expect(await linesOf(home)).to.deep.equal(['x-a', 'x-b']);
}

/** Waits until the server has died by itself, or kills it when `condition` holds. */
async function crash(server: ServerProcess, condition?: () => Promise<boolean>): Promise<void> {
  if (condition !== undefined) {
    await until('the moment to kill the server', condition, WAIT_MS);
    await server.kill('SIGKILL');
  }
  await server.gone;
}

/** Crashes one server around a slot, starts another, and a third that must find nothing to do. */
async function ranOnceOver(
  model: StatelessModel,
  failpoint: string,
  condition?: (url: string, id: string) => Promise<boolean>,
): Promise<void> {
  const isToolLost = failpoint.startsWith('during_tool_execution');
  const home = await mkdtemp(join(tmpdir(), 'oryxos-crash-'));
  try {
    await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
    await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [append_line, peek]'));
    const first = await startServer(home, model.url, failpoint);
    const slot = await declareSlot(first.url);
    await crash(first, condition && (() => condition(first.url, slot.id)));
    const second = await startServer(home, model.url);
    await expectRanOnce(second.url, home, slot, isToolLost);
    await second.kill('SIGKILL');
    await using third = await startServer(home, model.url);
    await expectRanOnce(third.url, home, slot, isToolLost);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('kill -9 around a slot of a schedule: it runs once and its row is closed', function () {
  this.timeout(180_000);

  const cases: Readonly<Record<string, string>> = {
    'after the claim, before the run is accepted': 'before_acceptance',
    'when the run has been accepted': 'after_user_msg_persisted:SIGKILL',
    'between two steps of the run': 'after_tool_call_persisted:SIGKILL',
    'while a tool of the run is at work': 'during_tool_execution:SIGKILL',
    'when the run has ended, before anybody knows': 'after_reply_persisted_before_response:SIGKILL',
  };
  for (const [moment, failpoint] of Object.entries(cases)) {
    it(moment, async () => {
      await using model = await statelessModel();
      await ranOnceOver(model, failpoint);
    });
  }

  it('when the end of the run is recorded and its row is not', async () => {
    await using model = await statelessModel();
    await ranOnceOver(model, 'row_stays_open', async (url, id) => {
      const [execution] = await read<readonly { readonly status: string }[]>(url, '/api/v1/agents/t/executions');
      const [row] = await rowsOf(url, id);
      return execution?.status === 'SUCCESS' && row?.status === 'running';
    });
  });
});
