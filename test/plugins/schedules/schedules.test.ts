import { expect } from 'chai';
import { definePlugin } from '../../../kernel/index.ts';
import { fakeClock } from '../../harness/index.ts';
import {
  door,
  eventually,
  executions,
  hostWith,
  newest,
  NOON,
  only,
  scheduled,
  schedules,
  settled,
  TEST_MS,
  type View,
} from './fixture.ts';

const MINUTE = 60_000;
const everyMinute = 'key: tick, name: Tick, cron: "0 * * * * *", zone: UTC, message: go';

describe('schedules', function () {
  this.timeout(TEST_MS);

  it('run at their time, in a session of their own, and leave a row with a trace', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: daily, name: Daily, cron: "0 5 12 * * *", zone: UTC, message: go']);
    host.model.willSay('done');
    const before = await only(host);
    expect(before).to.include({ profileName: 'w1', key: 'daily', name: 'Daily', cron: '0 5 12 * * *', zone: 'UTC', message: 'go' });
    expect(before).to.include({ enabled: true, nextRunAt: '2026-11-30T12:05:00.000Z', lastRunAt: null, lastStatus: null, runCount: 0 });

    await clock.tick(5 * MINUTE);
    const [row, ...others] = await settled(host, before.scheduleId, 1);
    expect(others).to.deep.equal([]);
    const slot = '2026-11-30T12:05:00.000Z';
    expect(row).to.include({ status: 'success', success: true, slotAt: slot, firstSlot: slot, lastSlot: slot, count: 1, startedAt: slot });
    expect(row).to.include({ sessionId: `schedule:${before.scheduleId}`, legacyTaskKey: null, legacyMigrated: false, errorMessage: null });
    const after = await only(host);
    expect(after).to.include({ lastStatus: 'success', lastRunAt: slot, runCount: 1, nextRunAt: '2026-12-01T12:05:00.000Z' });

    const [execution] = (await host.request('GET', '/api/v1/agents/w1/executions')).data;
    expect(execution).to.include({
      agentName: 'w1',
      source: 'schedule',
      status: 'SUCCESS',
      traceId: row.traceId,
      sessionId: row.sessionId,
    });
    const session = (await host.request('GET', `/api/v1/sessions/${encodeURIComponent(row.sessionId)}`)).data;
    expect(session.messages.map(({ content }: View) => content)).to.deep.equal(['go', 'done']);
    const [stored] = await host.rows('sessions');
    expect(stored).to.include({ channel: 'scheduler', user_id: 'scheduler' });
  });

  it('keep id, enabled flag and history over edits; a renamed key retires and comes back', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute]);
    const { scheduleId: id } = await only(host);
    await clock.tick(MINUTE);
    await settled(host, id, 1);
    await host.request('PUT', `/api/v2/schedules/${id}`, { enabled: false });

    const save = (entry: string) => host.request('PUT', '/api/v1/agents/w1', { agentMarkdown: scheduled('w1', entry) });
    await save('key: tick, name: Renamed, cron: "0 0 9 * * *", zone: Asia/Shanghai');
    expect(await only(host)).to.include({
      scheduleId: id,
      name: 'Renamed',
      cron: '0 0 9 * * *',
      enabled: false,
      nextRunAt: null,
      runCount: 1,
    });

    await save('key: other, name: Other, cron: "0 0 9 * * *"');
    expect((await schedules(host)).map(({ key }) => key)).to.deep.equal(['other']);
    expect((await host.request('POST', `/api/v2/schedules/${id}/run`)).status).to.equal(404);
    expect((await host.request('PUT', `/api/v2/schedules/${id}`, { enabled: true })).status).to.equal(404);
    expect((await host.request('GET', `/api/v2/schedules/${id}/preview`)).status).to.equal(404);
    expect(await executions(host, id)).to.have.length(1);

    await save(everyMinute);
    expect(await only(host)).to.include({ scheduleId: id, enabled: false, runCount: 1 });
    await host.request('DELETE', '/api/v1/agents/w1');
    expect(await schedules(host)).to.deep.equal([]);
    expect(await executions(host, id)).to.have.length(1);
  });

  it('switched off: no next run, one row of skipped slots that grows, and still run by hand', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute]);
    const { scheduleId: id } = await only(host);
    const answer = await host.request('PUT', `/api/v2/schedules/${id}`, { enabled: false });
    expect(answer.data).to.have.length(1);
    expect(answer.data[0]).to.include({ enabled: false, nextRunAt: null });

    await clock.tick(2 * MINUTE);
    await newest(host, id, 'two skipped slots', ({ count }) => count === 2);
    const ran = await host.request('POST', `/api/v2/schedules/${id}/run`);
    expect(ran.status).to.equal(200);
    expect(ran.data[0]).to.include({ status: 'success', slotAt: null, firstSlot: null, lastSlot: null, count: 1 });
    await clock.tick(MINUTE);
    const rows = await eventually('three skipped slots', async () => {
      const all = await executions(host, id);
      return all.some(({ count }) => count === 3) ? all : undefined;
    });
    expect(rows.map(({ status, count }) => `${status} ${count}`)).to.deep.equal(['success 1', 'skipped 3']);
    expect(rows[1]).to.include({ reason: 'disabled', firstSlot: '2026-11-30T12:01:00.000Z', lastSlot: '2026-11-30T12:03:00.000Z' });
    expect(await only(host)).to.include({ runCount: 1, nextRunAt: null });

    const [enabled] = (await host.request('PUT', `/api/v2/schedules/${id}`, { enabled: true })).data;
    expect(enabled).to.include({ enabled: true, nextRunAt: '2026-11-30T12:04:00.000Z' });
    for (const body of [{}, { enabled: 'yes' }]) expect((await host.request('PUT', `/api/v2/schedules/${id}`, body)).status).to.equal(400);
  });

  it('pass over slots that come while the run goes on, and refuse a run by hand meanwhile', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute]);
    const { scheduleId: id } = await only(host);
    const gate = door();
    host.model.will({ content: 'slow', after: gate.closed });
    await clock.tick(MINUTE);
    await newest(host, id, 'the run', ({ status }) => status === 'running');
    expect(await only(host)).to.include({ lastStatus: 'running', runCount: 1 });
    for (const path of [`/api/v2/schedules/${id}/run`, '/api/v2/agents/w1/schedules/tick/run', '/api/v1/schedules/tick/run']) {
      const busy = await host.request('POST', path);
      expect(busy.status, path).to.equal(409);
      expect(busy.message).to.include('"tick"');
    }
    await clock.tick(2 * MINUTE);
    await newest(host, id, 'two skipped slots', ({ status, count }) => status === 'skipped' && count === 2);
    gate.open();
    const rows = await settled(host, id, 2);
    expect(rows.map(({ status, reason }) => [status, reason])).to.deep.equal([
      ['skipped', 'still running'],
      ['success', null],
    ]);
    await clock.tick(MINUTE);
    expect((await settled(host, id, 3)).map(({ status }) => status)).to.deep.equal(['success', 'skipped', 'success']);
  });

  it('queue what comes during a run, if they shall', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [`${everyMinute}, overlap: queue`]);
    const { scheduleId: id } = await only(host);
    const gate = door();
    host.model.will({ content: 'slow', after: gate.closed });
    await clock.tick(3 * MINUTE);
    await eventually('three claims', async () => (await executions(host, id)).length === 3);
    expect((await host.request('POST', `/api/v2/schedules/${id}/run`)).status).to.equal(409);
    gate.open();
    const rows = await settled(host, id, 3);
    expect(rows.map(({ status, slotAt }) => `${status} ${slotAt.slice(11, 16)}`)).to.deep.equal([
      'success 12:03',
      'success 12:02',
      'success 12:01',
    ]);
  });

  it('queue 100 runs at most; what comes then is passed over and says so', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: t, name: T, cron: "* * * * * *", zone: UTC, overlap: queue']);
    const { scheduleId: id } = await only(host);
    const gate = door();
    host.model.will({ content: 'slow', after: gate.closed });
    for (let slot = 1; slot <= 103; slot += 1) {
      await clock.jump(1_000);
      await eventually('the claim', async () => (await host.rows('task_executions')).length === slot);
    }
    const over = await newest(host, id, 'the slot that is passed over', ({ status }) => status === 'skipped');
    expect(over.reason).to.equal('100 runs of the schedule wait already');
    gate.open();
    const rows = await eventually('the end of all', async () => {
      const all = await host.rows('task_executions');
      return all.every(({ status }) => status !== 'running') ? all : undefined;
    });
    expect(rows.filter(({ status }) => status === 'success')).to.have.length(101);
    expect(await only(host)).to.include({ runCount: 101 });
  });

  it('end a run at its time limit', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: slow, name: Slow, cron: "0 1 12 * * *", zone: UTC, timeout_seconds: 20']);
    const { scheduleId: id } = await only(host);
    host.model.will({ content: 'never', after: new Promise(() => undefined) });
    await clock.tick(MINUTE);
    await eventually('the model to be asked', () => host.model.requests.length === 1);
    await clock.tick(19_000);
    expect((await executions(host, id))[0].status).to.equal('running');
    await clock.tick(2_000);
    const [row] = await settled(host, id, 1);
    expect(row).to.include({ status: 'failed', success: false, reason: 'timeout', errorMessage: 'timed out after 20 s' });
    expect(await only(host)).to.include({ lastStatus: 'failed', runCount: 1 });
  });

  it('record a failure, tell the channel, and say whether it was told', async () => {
    const told: string[][] = [];
    const notifier = definePlugin({
      name: 'people',
      setup(ctx) {
        ctx.register('failureNotifier', {
          name: 'notify',
          async notify(channel, content, key) {
            if (channel === 'broken') throw new Error('no such channel');
            told.push([channel, content, key]);
          },
        });
      },
    });
    const clock = fakeClock(NOON);
    const entry = (key: string, channel: string) => `key: ${key}, name: ${key}, cron: "0 1 12 * * *", zone: UTC, on_failure: ${channel}`;
    await using host = await hostWith(clock, [entry('a', 'team'), entry('b', 'broken')], {
      plugins: [notifier],
      config: { 'oryxos.disable': ['notify'] },
    });
    host.model.always({ failure: { switchable: false, message: 'it is down' } });
    await clock.tick(MINUTE);
    const [a, b] = await schedules(host);
    const reported = await newest(host, a.scheduleId, 'the report', ({ reason }) => String(reason).endsWith('"team" was told'));
    expect(reported).to.include({ status: 'failed' });
    expect(reported.errorMessage).to.include('it is down');
    expect(told).to.have.length(1);
    expect(told[0]?.[1]).to.include('Schedule "a" of agent "w1" failed').and.include(reported.traceId);
    await newest(host, b.scheduleId, 'the failed report', ({ reason }) =>
      String(reason).includes('"broken" could not be told: no such channel'),
    );
  });

  it('say so when nobody could be told of a failure', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: a, name: A, cron: "0 1 12 * * *", zone: UTC, on_failure: team'], {
      config: { 'oryxos.disable': ['notify'] },
    });
    host.model.always({ failure: { switchable: false, message: 'it is down' } });
    await clock.tick(MINUTE);
    const { scheduleId: id } = await only(host);
    await newest(host, id, 'the reason', ({ reason }) => String(reason).includes('"team" was not told'));
  });

  it('let other plugins refuse a slot', async () => {
    const holiday = definePlugin({ name: 'holiday', setup: (ctx) => void ctx.tap('onSchedule', () => ({ skip: 'it is a holiday' })) });
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute], { plugins: [holiday] });
    const { scheduleId: id } = await only(host);
    await clock.tick(MINUTE);
    const [row] = await settled(host, id, 1);
    expect(row).to.include({ status: 'skipped', reason: 'it is a holiday' });
    expect(await only(host)).to.include({ runCount: 0, lastRunAt: null });
    const refused = await host.request('POST', `/api/v2/schedules/${id}/run`);
    expect([refused.status, refused.message]).to.deep.equal([409, 'Schedule "tick" of agent "w1" did not run: it is a holiday']);
  });

  it('give the same run for the same Idempotency-Key, also while it goes on', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute]);
    const { scheduleId: id } = await only(host);
    const gate = door();
    host.model.will({ content: 'slow', after: gate.closed });
    const post = () => host.request('POST', `/api/v2/schedules/${id}/run`, undefined, { 'idempotency-key': 'k1' });
    const answers = [post(), post(), post()];
    await eventually('the model to be asked', () => host.model.requests.length === 1);
    gate.open();
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).to.equal(200);
      expect(answer.data).to.have.length(1);
      expect(answer.data[0].status).to.equal('success');
    }
    expect((await post()).data).to.have.length(1);
    expect(host.model.requests).to.have.length(1);
  });

  it('do not run on their own in a short-lived host, and can be run there by hand', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, [everyMinute], { mode: 'embedded' });
    const { scheduleId: id } = await only(host);
    await clock.tick(3 * MINUTE);
    expect(await executions(host, id)).to.deep.equal([]);
    expect((await host.request('POST', `/api/v2/schedules/${id}/run`)).data[0].status).to.equal('success');
  });

  it('fire hourly over the night that has an hour twice', async () => {
    const clock = fakeClock(Date.parse('2026-11-01T04:30:00Z'));
    await using host = await hostWith(clock, ['key: h, name: H, cron: "0 0 * * * *", zone: America/New_York']);
    const { scheduleId: id } = await only(host);
    await clock.jump(30 * MINUTE);
    await settled(host, id, 1);
    for (let hour = 2; hour <= 4; hour += 1) {
      await clock.jump(60 * MINUTE);
      await settled(host, id, hour);
    }
    expect((await executions(host, id)).map(({ slotAt }) => slotAt.slice(11, 16))).to.deep.equal(['08:00', '07:00', '06:00', '05:00']);
  });

  it('do not fire at once what is due in months', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: y, name: Y, cron: "0 0 8 1 6 *", zone: UTC']);
    const { scheduleId: id, nextRunAt } = await only(host);
    expect(nextRunAt).to.equal('2027-06-01T08:00:00.000Z');
    await clock.jump(60 * MINUTE);
    expect(await executions(host, id)).to.deep.equal([]);
  });
});
