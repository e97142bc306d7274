import { expect } from 'chai';
import { fakeClock, type TestHost } from '../../harness/index.ts';
import { eventually, executions, newest, NOON, only, schedules, settled, TEST_MS, workspace } from './fixture.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const noon = 'key: noon, name: Noon, cron: "0 0 12 * * *", zone: UTC, message: go';

/** Stops a host at the first instant and starts another at the second. */
async function over(entry: string, stopAt: number, startAt: number, check: (host: TestHost, id: string) => Promise<void>): Promise<void> {
  await using home = await workspace();
  const first = await home.host(fakeClock(stopAt), [entry]);
  const { scheduleId: id } = await only(first);
  await first.stop();
  await using second = await home.host(fakeClock(startAt), [entry]);
  await check(second, id);
}

describe('schedules over a restart', function () {
  this.timeout(TEST_MS);

  it('stopped 1 s before, started 30 s after: "once" runs it', () =>
    over(noon, NOON - SECOND, NOON + 30 * SECOND, async (host, id) => {
      const rows = await settled(host, id, 1);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ status: 'success', slotAt: '2026-11-30T12:00:00.000Z', startedAt: '2026-11-30T12:00:30.000Z' });
      expect(await only(host)).to.include({ nextRunAt: '2026-12-01T12:00:00.000Z', runCount: 1 });
    }));

  it('stopped 1 s before, started 30 s after: "skip" leaves a missed row', () =>
    over(`${noon}, missed: skip`, NOON - SECOND, NOON + 30 * SECOND, async (host, id) => {
      const rows = await settled(host, id, 1);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ status: 'missed', success: false, reason: 'the server was not running', count: 1, traceId: null });
      expect(await only(host)).to.include({ nextRunAt: '2026-12-01T12:00:00.000Z', runCount: 0, lastRunAt: null });
    }));

  it('only records a slot that is older than max_delay', async () => {
    await over(noon, NOON - SECOND, NOON + 11 * MINUTE, async (host, id) => {
      expect((await settled(host, id, 1)).map(({ status }) => status)).to.deep.equal(['missed']);
    });
    await over(`${noon}, max_delay: 1h`, NOON - SECOND, NOON + 11 * MINUTE, async (host, id) => {
      expect((await settled(host, id, 1)).map(({ status }) => status)).to.deep.equal(['success']);
    });
  });

  it('after three days runs at most the newest slot; the others share one row', () =>
    over('key: h, name: H, cron: "0 0 * * * *", zone: UTC', NOON + MINUTE, NOON + 72 * HOUR + 5 * MINUTE, async (host, id) => {
      const rows = await settled(host, id, 2);
      expect(rows.map(({ status, count }) => `${status} ${count}`)).to.deep.equal(['success 1', 'missed 71']);
      expect(rows[1]).to.include({ firstSlot: '2026-11-30T13:00:00.000Z', lastSlot: '2026-12-03T11:00:00.000Z' });
    }));

  it('joins further missed slots to the row that says the same', async () => {
    await using home = await workspace();
    const starts = [NOON - SECOND, NOON + HOUR, NOON + 25 * HOUR, NOON + 49 * HOUR];
    for (const at of starts) {
      const host = await home.host(fakeClock(at), [noon]);
      const { scheduleId: id } = await only(host);
      if (at > NOON) await settled(host, id, 1);
      await host.stop();
    }
    await using host = await home.host(fakeClock(NOON + 50 * HOUR), [noon]);
    const { scheduleId: id } = await only(host);
    const rows = await executions(host, id);
    expect(rows.map(({ status, count }) => `${status} ${count}`)).to.deep.equal(['missed 3']);
  });

  it('records slots of a schedule that is switched off as skipped', async () => {
    await using home = await workspace();
    const first = await home.host(fakeClock(NOON - SECOND), [noon]);
    const { scheduleId: id } = await only(first);
    await first.request('PUT', `/api/v2/schedules/${id}`, { enabled: false });
    await first.stop();
    await using second = await home.host(fakeClock(NOON + 25 * HOUR), [noon]);
    await newest(second, id, 'the skipped slots', ({ status, count }) => status === 'skipped' && count === 2);
    expect(await only(second)).to.include({ enabled: false, nextRunAt: null });
  });

  it('goes on with a run that was under way, under its trace', async () => {
    await using home = await workspace();
    const clock = fakeClock(NOON - SECOND);
    const first = await home.host(clock, [noon]);
    const { scheduleId: id } = await only(first);
    first.model.will({ content: 'never', after: new Promise(() => undefined) });
    await clock.tick(SECOND);
    const before = await newest(first, id, 'the run', ({ status }) => status === 'running');
    await eventually('the model to be asked', () => first.model.requests.length === 1);
    await first.stop();

    await using second = await home.host(fakeClock(NOON + 30 * SECOND), [noon]);
    const rows = await settled(second, id, 1);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ status: 'success', traceId: before.traceId });
    expect(await only(second)).to.include({ lastStatus: 'success', runCount: 1 });
    const [execution] = (await second.request('GET', '/api/v1/agents/w1/executions')).data;
    expect(execution).to.include({ status: 'SUCCESS', traceId: before.traceId });
  });

  it('closes a run that cannot be taken up again, and is not busy then', async () => {
    await using home = await workspace();
    const clock = fakeClock(NOON - SECOND);
    const first = await home.host(clock, [noon]);
    const { scheduleId: id } = await only(first);
    first.model.will({ content: 'never', after: new Promise(() => undefined) });
    await clock.tick(SECOND);
    await newest(first, id, 'the run', ({ status }) => status === 'running');
    await eventually('the model to be asked', () => first.model.requests.length === 1);
    await first.stop();

    await using second = await home.host(fakeClock(NOON + 26 * HOUR), [noon]);
    const row = (await settled(second, id, 1)).at(-1);
    expect(row).to.include({ status: 'interrupted', success: false });
    expect(row.reason).to.include('more than 24 hours ago');
    const [execution] = (await second.request('GET', '/api/v1/agents/w1/executions')).data;
    expect(execution).to.include({ status: 'INTERRUPTED' });
    expect((await second.request('POST', `/api/v2/schedules/${id}/run`)).status).to.equal(200);
  });

  it('says of a run that was stopped at its time limit that it timed out, also when a crash came before its row was closed', async () => {
    await using home = await workspace();
    const entry = `${noon}, timeout_seconds: 20`;
    const clock = fakeClock(NOON - SECOND);
    const first = await home.host(clock, [entry]);
    const { scheduleId: id } = await only(first);
    first.model.will({ content: 'never', after: new Promise(() => undefined) });
    await clock.tick(SECOND);
    await eventually('the model to be asked', () => first.model.requests.length === 1);
    await clock.tick(20 * SECOND);
    const timedOut = { status: 'failed', reason: 'timeout', errorMessage: 'timed out after 20 s' };
    expect((await settled(first, id, 1))[0]).to.include(timedOut);
    // What a crash leaves between the end of the run and the end of its records.
    await first.kernel
      .service('store')
      .write(
        { sql: "UPDATE agent_executions SET status = 'running', success = NULL, error_message = NULL, ended_at = NULL", params: [] },
        { sql: "UPDATE task_executions SET status = 'running', success = NULL, reason = NULL, error_message = NULL", params: [] },
      );
    await first.stop();

    await using second = await home.host(fakeClock(NOON + MINUTE), [entry]);
    expect((await settled(second, id, 1))[0]).to.include(timedOut);
    const [execution] = (await second.request('GET', '/api/v1/agents/w1/executions')).data;
    expect(execution).to.include({ status: 'FAILED', reason: 'timeout', errorMessage: 'timed out after 20 s' });
  });

  for (const [age, status] of [
    [30 * SECOND, 'success'],
    [HOUR, 'interrupted'],
  ] as const) {
    it(`a slot that was claimed ${age / SECOND} s ago and whose run never began ends ${status}`, async () => {
      await using home = await workspace();
      const first = await home.host(fakeClock(NOON - SECOND), [noon]);
      const { scheduleId: id } = await only(first);
      await first.kernel.service('store').write(
        { sql: 'UPDATE scheduled_tasks SET evaluated_at = ?', params: [NOON] },
        {
          sql: `INSERT INTO task_executions (schedule_id, session_id, trace_id, slot, last_slot, status, started_at) VALUES (?, ?, ?, ?, ?, 'running', ?)`,
          params: [id, `schedule:${id}`, '0b7e9f5e-7f1c-4a58-9d6b-1f1f1f1f1f1f', NOON, NOON, NOON],
        },
      );
      await first.stop();
      await using second = await home.host(fakeClock(NOON + age), [noon]);
      const rows = await settled(second, id, 1);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ status, traceId: '0b7e9f5e-7f1c-4a58-9d6b-1f1f1f1f1f1f' });
      expect(second.model.requests).to.have.length(status === 'success' ? 1 : 0);
    });
  }

  it('retires what vanished while no server ran', async () => {
    await using home = await workspace();
    const first = await home.host(fakeClock(NOON), [noon, 'key: gone, name: Gone, cron: "@daily"']);
    expect(await schedules(first)).to.have.length(2);
    await first.stop();
    await using second = await home.host(fakeClock(NOON), [noon]);
    expect((await schedules(second)).map(({ key }) => key)).to.deep.equal(['noon']);
  });
});
