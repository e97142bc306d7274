/** Schedules: clocks that jump, machines that sleep, very many at once. */
import { expect } from 'chai';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../kernel/index.ts';
import { idle } from '../durable/crash-checks.ts';
import { request } from '../harness/http-client.ts';
import { fakeClock, startHost, type TestHost, until } from '../harness/index.ts';
import { says, startModelServer } from '../harness/model-server.ts';
import { executions, NOON, only, scheduled, settled } from '../plugins/schedules/fixture.ts';
import type { RunCase } from './corpus.ts';
import { listOf } from './corpus.ts';
import { expectSound } from './crash-cases.ts';
import { holds } from './holds.ts';
import { makeHome, startProgram } from './program.ts';

const MINUTE = 60_000;
const LOOK_MS = 30_000;
const MIB = 2 ** 20;

/** One slot, or consecutive ones that share a row. */
interface Row {
  readonly status: string;
  readonly count: number;
  readonly slotAt: string;
  readonly slotUntil?: string | null;
}

const brief = (rows: readonly Row[]): readonly string[] => rows.map(({ status, count }) => `${status} ${count}`);

/** A machine whose wall clock jumps while nothing else happens. */
function jumping(startAt: number) {
  const time = fakeClock(startAt);
  let shift = 0;
  const clock: Clock = { now: () => time.now() + shift, monotonic: () => time.monotonic(), after: (delay, fn) => time.after(delay, fn) };
  const jump = async (byMs: number): Promise<void> => {
    shift += byMs;
    await time.tick(LOOK_MS);
  };
  return { clock, time, jump };
}

const start = (clock: Clock, entry: string): Promise<TestHost> => startHost({ clock, agents: { w1: scheduled('w1', entry) } });

const clockForward = holds(async () => {
  // Noon is hours after the slot of the day; a clock that lands two minutes after a slot finds one that is young enough.
  for (const [missed, landing, expected] of [
    ['once', 0, ['missed 3']],
    ['once', -4 * 60 * MINUTE + 2 * MINUTE - LOOK_MS, ['success 1', 'missed 2']],
    ['skip', -4 * 60 * MINUTE + 2 * MINUTE - LOOK_MS, ['missed 3']],
  ] as const) {
    const { clock, jump } = jumping(NOON);
    await using host = await start(clock, `key: d, name: D, cron: "0 0 8 * * *", zone: UTC, missed: ${missed}`);
    const { scheduleId: id } = await only(host);
    await jump(3 * 24 * 60 * MINUTE + landing);
    expect(brief(await settled(host, id, expected.length)), `${missed} ${landing}`).to.deep.equal(expected);
    expect(host.model.requests).to.have.length(expected.length - 1);
  }
});

const sleptThrough = holds(async () => {
  const { clock, time, jump } = jumping(NOON + MINUTE);
  await using host = await start(clock, 'key: t, name: T, cron: "0 */10 * * * *", zone: UTC');
  const { scheduleId: id } = await only(host);
  await jump(55 * MINUTE);
  const rows = await settled(host, id, 2);
  expect(brief(rows)).to.deep.equal(['success 1', 'missed 4']);
  expect(rows[0]).to.include({ slotAt: '2026-11-30T12:50:00.000Z' });
  expect(JSON.stringify(rows[1])).to.include('12:10:00').and.include('12:40:00');
  await time.tick(4 * MINUTE);
  expect((await settled(host, id, 3))[0]).to.include({ slotAt: '2026-11-30T13:00:00.000Z', status: 'success' });
  expect(host.model.requests).to.have.length(2);
});

const fallBack = holds(async () => {
  const clock = fakeClock(Date.parse('2026-11-01T00:30:00-04:00'));
  await using host = await start(clock, 'key: h, name: H, cron: "0 0 * * * *", zone: America/New_York');
  const { scheduleId: id } = await only(host);
  const end = Date.parse('2026-11-01T03:30:00-05:00');
  for (let hour = 1; clock.now() < end; hour += 1) {
    await clock.tick(60 * MINUTE);
    await settled(host, id, hour);
  }
  const rows = (await executions(host, id)) as readonly Row[];
  expect(rows.map(({ slotAt, status }) => `${slotAt.slice(11, 16)} ${status}`)).to.deep.equal(
    ['08:00', '07:00', '06:00', '05:00'].map((time) => `${time} success`),
  );
});

/** With the real clock and the real timers, which overflow after 24.8 days. */
const farAway = holds(async ({ input }) => {
  const due = new Date(Date.now() + 60 * 24 * 60 * MINUTE);
  const cron = `0 0 8 ${due.getUTCDate()} ${due.getUTCMonth() + 1} *`;
  await using host = await startHost({ agents: { w1: scheduled('w1', `key: y, name: Y, cron: "${cron}", zone: UTC`) } });
  const { scheduleId: id, nextRunAt } = await only(host);
  expect(nextRunAt).to.equal(`${due.toISOString().slice(0, 10)}T08:00:00.000Z`);
  await new Promise((resolve) => setTimeout(resolve, Number(listOf(input)[0]?.['seconds']) * 1_000));
  expect(await executions(host, id)).to.deep.equal([]);
  expect(host.model.requests).to.deep.equal([]);
});

/** The process stands still in the middle of a run, longer than several slots. */
const stopped = (stopMs: number, modelMs: number): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    model.fallback = async (asked, response) => {
      await new Promise((resolve) => setTimeout(resolve, modelMs));
      await says('final')(asked, response);
    };
    const agent = scheduled('w1', 'key: s, name: S, cron: "*/2 * * * * *", zone: UTC');
    await using home = await makeHome(model.baseUrl, [], {}, { 'agents/w1/AGENT.md': agent });
    await using program = await startProgram(home);
    await until('a run', () => model.requests.length > 0, 10_000);
    program.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, stopMs));
    program.child.kill('SIGCONT');
    const [{ scheduleId: id }] = (await request(program.url, 'GET', '/api/v2/schedules')).data as [{ readonly scheduleId: string }];
    const rowsNow = async (): Promise<readonly (Row & { readonly startedAt: string | null; readonly endedAt: string | null })[]> =>
      (await request(program.url, 'GET', `/api/v2/schedules/${id}/executions`)).data as never;
    await until(
      'the pause to be recorded',
      async () => (await rowsNow()).some(({ status }) => status === 'missed' || status === 'skipped'),
      30_000,
    );
    await until('another run', async () => (await rowsNow()).filter(({ status }) => status === 'success').length >= 2, 60_000);
    await request(program.url, 'PUT', `/api/v2/schedules/${id}`, { enabled: false });
    await idle(program.url);
    const rows = await rowsNow();
    const slots = rows.map(({ slotAt }) => slotAt);
    expect(new Set(slots).size, 'each slot once').to.equal(slots.length);
    const kinds = rows.map(({ status }) => status);
    for (const [index, kind] of kinds.entries())
      if (kind === 'missed') expect(kinds[index + 1], 'consecutive ones share a row').to.not.equal('missed');
    const turns = (await request(program.url, 'GET', '/api/v1/audit/llm?limit=500')).data as readonly {
      readonly createdAt: string;
      readonly durationMs: number;
    }[];
    const spans = turns
      .map(({ createdAt, durationMs }) => [Date.parse(createdAt) - durationMs, Date.parse(createdAt)] as const)
      .sort(([a], [b]) => a - b);
    for (const [index, [from]] of spans.entries())
      if (index > 0) expect(from, 'runs overlap').to.be.at.least((spans[index - 1]?.[1] ?? 0) - 100);
    expectSound(home);
  });

/** Very many schedules that are always due. */
const everySecond = (schedules: number, seconds: number): RunCase =>
  holds(async () => {
    const entries = Array.from({ length: 100 }, (_, index) => `key: k${index}, name: K, cron: "* * * * * *", zone: UTC, message: x`);
    const names = Array.from({ length: schedules / entries.length }, (_, index) => `w${index}`);
    await using host = await startHost({ agents: Object.fromEntries(names.map((name) => [name, scheduled(name, ...entries)])) });
    expect((await host.request('GET', '/api/v2/schedules')).data).to.have.length(schedules);
    let [open, most] = [0, 0];
    host.model.always(async () => {
      most = Math.max(most, (open += 1));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      open -= 1;
      return { content: 'x' };
    });
    const lag = monitorEventLoopDelay({ resolution: 10 });
    const [rss, end] = [process.memoryUsage().rss, performance.now() + seconds * 1_000];
    let slowest = 0;
    lag.enable();
    while (performance.now() < end) {
      const since = performance.now();
      expect((await host.request('GET', '/api/v1/health')).status).to.equal(200);
      slowest = Math.max(slowest, performance.now() - since);
      const running = (await host.rows('task_executions')).filter(({ status }) => status === 'running').map((row) => row['schedule_id']);
      expect(new Set(running).size, 'one run of a schedule at a time').to.equal(running.length);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    lag.disable();
    expect(slowest, 'ms for health').to.be.below(1_000);
    expect(lag.percentile(90) / 1e6, 'ms of lag').to.be.below(200);
    expect(most, 'runs at once').to.be.within(1, 32);
    expect((process.memoryUsage().rss - rss) / MIB, 'MiB more').to.be.below(200);
    const rows = [...(await host.rows('task_executions'))].sort((a, b) => Number(a['slot']) - Number(b['slot']));
    const last = new Map<unknown, unknown>();
    for (const row of rows) {
      const repeated = row['status'] === 'skipped' && last.get(row['schedule_id']) === 'skipped';
      expect(repeated, 'passed slots in a row share one row').to.equal(false);
      last.set(row['schedule_id'], row['status']);
    }
  });

/** A key that two agents use is no address. */
const sameKey = holds(async () => {
  const entry = 'key: morning, name: M, cron: "0 0 8 * * *", zone: UTC';
  await using host = await startHost({ clock: fakeClock(NOON), agents: { a1: scheduled('a1', entry), a2: scheduled('a2', entry) } });
  const answer = await host.request('POST', '/api/v1/schedules/morning/run');
  expect([answer.status, answer.code, answer.data]).to.deep.equal([409, 409, null]);
  expect(host.model.requests).to.deep.equal([]);
  expect(await host.rows('task_executions')).to.deep.equal([]);
});

/** `full` takes the times and numbers of the corpus. */
export const scheduleCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  'durable-clock-forward': clockForward,
  'durable-sleep-through': sleptThrough,
  'durable-dst-hourly': fallBack,
  'durable-settimeout-overflow': farAway,
  'durable-lease-stolen': stopped(30_000, 20_000),
  'api-cron-every-second': full ? everySecond(1_000, 20) : everySecond(100, 3),
  'api-schedule-dup-key': sameKey,
});
