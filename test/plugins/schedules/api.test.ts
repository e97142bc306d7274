import { expect } from 'chai';
import { fakeClock, startHost } from '../../harness/index.ts';
import { hostWith, NOON, only, scheduled, schedules, settled, TEST_MS } from './fixture.ts';

const daily = 'key: daily, name: Daily, cron: "0 0 9 * * *", zone: Asia/Shanghai, message: go';

describe('the API of schedules', function () {
  this.timeout(TEST_MS);

  it('lists them by agent and key', async () => {
    const agents = { b: scheduled('b', daily), a: scheduled('a', 'id: z, cron: "@hourly"', daily) };
    await using host = await startHost({ clock: fakeClock(NOON), agents });
    const views = await schedules(host);
    expect(views.map(({ profileName, key }) => `${profileName}/${key}`)).to.deep.equal(['a/daily', 'a/z', 'b/daily']);
    expect(views[1]).to.include({ name: 'z', cron: '@hourly', zone: null, message: null });
    const fields = 'scheduleId profileName key name cron zone message enabled nextRunAt lastRunAt lastStatus runCount';
    expect(views[0]).to.have.all.keys(fields.split(' '));
    expect(views[0].scheduleId).to.not.equal(views[2].scheduleId);
  });

  it('shows the next instants in the zone and in UTC, and marks changes of clocks', async () => {
    await using host = await hostWith(fakeClock(Date.parse('2026-10-31T12:00:00Z')), [
      'key: n, name: N, cron: "0 30 1 * * *", zone: America/New_York',
    ]);
    const { scheduleId: id } = await only(host);
    const { data } = await host.request('GET', `/api/v2/schedules/${id}/preview?count=2`);
    expect(data).to.deep.equal({
      cron: '0 30 1 * * *',
      zone: 'America/New_York',
      fires: [
        { at: '2026-11-01T05:30:00.000Z', local: '2026-11-01T01:30:00-04:00', dst: 'repeat' },
        { at: '2026-11-02T06:30:00.000Z', local: '2026-11-02T01:30:00-05:00', dst: null },
      ],
    });
    const many = async (count: string): Promise<number> =>
      (await host.request('GET', `/api/v2/schedules/${id}/preview${count}`)).data.fires.length;
    expect([await many(''), await many('?count=0'), await many('?count=1000')]).to.deep.equal([10, 1, 100]);
    expect((await host.request('GET', `/api/v2/schedules/${id}/preview?count=x`)).status).to.equal(400);
    expect((await host.request('GET', '/api/v2/schedules/none/preview')).status).to.equal(404);
  });

  it('shows them for an expression that is saved nowhere', async () => {
    await using host = await hostWith(fakeClock(Date.parse('2027-03-13T12:00:00Z')), []);
    const post = (body: unknown) => host.request('POST', '/api/v2/schedules/preview', body);
    const { data } = await post({ cron: '0 30 2 * * *', zone: 'America/New_York', count: 1 });
    expect(data.fires).to.deep.equal([{ at: '2027-03-14T07:00:00.000Z', local: '2027-03-14T03:00:00-04:00', dst: 'gap' }]);
    expect((await post({ cron: '0 0 0 30 2 *', zone: 'UTC' })).data.fires).to.deep.equal([]);
    const bad = await post({ cron: '99 0 9 * * *' });
    expect(bad.status).to.equal(400);
    expect(bad.message).to.include('field "second"');
    expect((await post({ cron: '@daily', zone: 'Mars/X' })).status).to.equal(400);
    expect((await post({})).status).to.equal(400);
  });

  it('answers 404 for what does not exist, and runs an exactly addressed schedule', async () => {
    await using host = await hostWith(fakeClock(NOON), [daily]);
    for (const [method, path, body] of [
      ['GET', '/api/v2/schedules/none/executions', undefined],
      ['POST', '/api/v2/schedules/none/run', undefined],
      ['PUT', '/api/v2/schedules/none', { enabled: true }],
      ['POST', '/api/v2/agents/w1/schedules/none/run', undefined],
      ['POST', '/api/v2/agents/none/schedules/daily/run', undefined],
      ['GET', '/api/v1/schedules/none/executions', undefined],
      ['POST', '/api/v1/schedules/none/run', undefined],
      ['PUT', '/api/v1/schedules/none', { enabled: true }],
    ] as const) {
      expect((await host.request(method, path, body)).status, `${method} ${path}`).to.equal(404);
    }
    expect((await host.request('POST', '/api/v2/agents/w1/schedules/daily/run')).data[0].status).to.equal('success');
  });

  it('speaks the older version by key, and refuses a key that two agents use', async () => {
    await using host = await startHost({
      clock: fakeClock(NOON),
      agents: { a: scheduled('a', daily, 'key: mine, name: Mine, cron: "@daily"'), b: scheduled('b') },
    });
    const { data } = await host.request('GET', '/api/v1/schedules');
    expect(data[0]).to.deep.equal({
      taskId: 'daily',
      profileName: 'a',
      cron: '0 0 9 * * *',
      zone: 'Asia/Shanghai',
      message: 'go',
      enabled: true,
      nextRunAt: '2026-12-01T01:00:00.000Z',
      lastRunAt: null,
      lastStatus: null,
      runCount: 0,
    });
    expect((await host.request('POST', '/api/v1/schedules/daily/run')).data[0].status).to.equal('success');
    expect((await host.request('GET', '/api/v1/schedules/daily/executions')).data).to.have.length(1);
    const off = (await host.request('PUT', '/api/v1/schedules/daily', { enabled: false })).data;
    expect(off[0]).to.include({ taskId: 'daily', enabled: false, nextRunAt: null });

    await host.request('PUT', '/api/v1/agents/b', { agentMarkdown: scheduled('b', daily) });
    for (const [method, path, body] of [
      ['GET', '/api/v1/schedules', undefined],
      ['GET', '/api/v1/schedules/daily/executions', undefined],
      ['POST', '/api/v1/schedules/daily/run', undefined],
      ['PUT', '/api/v1/schedules/daily', { enabled: true }],
    ] as const) {
      expect((await host.request(method, path, body)).status, `${method} ${path}`).to.equal(409);
    }
    expect((await host.request('POST', '/api/v1/schedules/mine/run')).status).to.equal(200);
    expect((await host.request('PUT', '/api/v1/schedules/mine', { enabled: false })).status).to.equal(409);
    expect((await schedules(host)).map(({ key, enabled }) => `${key} ${enabled}`)).to.deep.equal([
      'daily false',
      'mine true',
      'daily true',
    ]);
  });

  it('clamps limit', async () => {
    await using host = await hostWith(fakeClock(NOON), [daily]);
    const { scheduleId: id } = await only(host);
    for (let run = 0; run < 3; run += 1) await host.request('POST', `/api/v2/schedules/${id}/run`);
    await settled(host, id, 3);
    const length = async (query: string): Promise<number> =>
      (await host.request('GET', `/api/v2/schedules/${id}/executions${query}`)).data.length;
    expect([await length(''), await length('?limit=2'), await length('?limit=0'), await length('?limit=5000')]).to.deep.equal([3, 2, 3, 3]);
    expect((await host.request('GET', `/api/v2/schedules/${id}/executions?limit=abc`)).status).to.equal(400);
  });
});
