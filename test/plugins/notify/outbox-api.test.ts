import { expect } from 'chai';
import { definePlugin } from '../../../kernel/index.ts';
import { agentFile, fakeClock, type TestHost, until } from '../../harness/index.ts';
import { documentOf, operationsOf, undocumented } from '../openapi/documented.ts';
import { samplesIn } from '../metrics/samples.ts';
import { addChannel, inState, later, messageOf, OK, type OutboxView, pager, pagerHost, submit } from './outbox-fixture.ts';

const HOUR = 60 * 60 * 1000;
const refused = { ok: false, kind: 'refused', message: 'no', code: '19001' } as const;

const list = async (host: TestHost, query = ''): Promise<readonly OutboxView[]> =>
  (await host.request('GET', `/api/v1/notify-outbox${query}`)).data as readonly OutboxView[];

describe('the outbox over REST', function () {
  this.timeout(30_000);

  it('shows messages newest first, by state and channel, at most as many as are wanted', async () => {
    const device = pager();
    device.replies.push(OK, refused);
    await using host = await pagerHost(device);
    await addChannel(host, 'ops');
    await inState(host, (await submit(host, 'a')).id, 'delivered');
    await inState(host, (await submit(host, 'b')).id, 'failed');
    await inState(host, (await submit(host, 'c', 'ops')).id, 'delivered');
    const contents = async (query: string) => (await list(host, query)).map(({ content }) => content);
    expect(await contents('')).to.deep.equal(['c', 'b', 'a']);
    expect(await contents('?state=delivered')).to.deep.equal(['c', 'a']);
    expect(await contents('?state=delivered&channel=team')).to.deep.equal(['a']);
    expect(await contents('?channel=nobody')).to.deep.equal([]);
    expect(await contents('?limit=2')).to.deep.equal(['c', 'b']);
    expect(await contents('?limit=-5')).to.deep.equal(['c']);
    expect(await contents('?limit=1e9&channel=')).to.have.length(3);
    for (const state of ['lost', '']) expect((await host.request('GET', `/api/v1/notify-outbox?state=${state}`)).status).to.equal(400);
    expect((await host.request('GET', '/api/v1/notify-outbox?limit=many')).status).to.equal(400);
    const [failed] = await list(host, '?state=failed');
    expect(failed).to.include({ channel: 'team', parts: 1, partsSent: 0, attempts: 1, error: 'no', errorCode: '19001', traceId: null });
  });

  it('masks contents before it cuts them to 200 characters, and shows one message whole', async () => {
    await using host = await pagerHost(pager());
    const text = `${'x'.repeat(180)} sk-abcdefghijklmnopqrstuvwxyz0123456789 ${'y'.repeat(200)}`;
    const { id } = await submit(host, text);
    const [shown] = await list(host);
    expect(shown?.content).to.have.length(200).and.not.include('abcdefghij');
    const whole = (await messageOf(host, id)).content;
    expect(whole)
      .to.match(/y{200}$/)
      .and.not.include('abcdefghij');
    expect((await host.rows('notify_outbox'))[0]?.['content']).to.equal(text);
  });

  it('sends a failed or unknown message again from the part that is missing, behind what waits, for another 24 hours', async () => {
    const clock = fakeClock();
    const device = pager({ maxSize: 6 });
    device.replies.push(OK, refused);
    await using host = await pagerHost(device, { clock });
    const { id } = await submit(host, 'one 1\ntwo 2\nthree\n', 'team', 'k');
    await inState(host, id, 'failed');
    await clock.jump(25 * HOUR);
    device.replies.push(later('down', HOUR));
    const other = await submit(host, 'other', 'team', 'o');
    await until('the other one to wait', async () => (await messageOf(host, other.id)).error);
    const answer = await host.request('POST', `/api/v1/notify-outbox/${id}/resend`);
    expect(answer.data).to.include({ id, state: 'pending', partsSent: 1, parts: 3, error: null, errorCode: null, endedAt: null });
    expect(answer.data.expiresAt).to.equal(new Date(clock.now() + 24 * HOUR).toISOString());
    expect((await host.request('POST', `/api/v1/notify-outbox/${id}/resend`)).status).to.equal(409);
    await clock.tick(HOUR);
    await inState(host, id, 'delivered');
    expect(device.sent.map(({ key }) => key)).to.deep.equal(['k/1', 'k/2', 'o', 'o', 'k/2', 'k/3']);

    device.replies.push({ ok: false, kind: 'unknown', message: 'no answer' });
    const lost = await submit(host, 'lost');
    await inState(host, lost.id, 'unknown');
    expect((await host.request('POST', `/api/v1/notify-outbox/${lost.id}/resend`)).status).to.equal(200);
    await inState(host, lost.id, 'delivered');
    expect(device.sent.slice(-2).map(({ key }) => key)).to.deep.equal(['key of lost', 'key of lost']);
  });

  it('sends nothing again that is delivered, unknown to it, or has no channel', async () => {
    const device = pager();
    device.replies.push(OK, refused);
    await using host = await pagerHost(device);
    const [good, bad] = [await submit(host, 'a'), await submit(host, 'b')];
    await inState(host, bad.id, 'failed');
    await host.request('DELETE', '/api/v1/notify-channels/team');
    const resend = async (id: number | string) => (await host.request('POST', `/api/v1/notify-outbox/${id}/resend`)).status;
    expect([await resend(good.id), await resend(bad.id)]).to.deep.equal([409, 409]);
    for (const id of [99, 0, '1.5', 'x', '1e3', '99999999999999999999']) {
      expect(await resend(id), String(id)).to.equal(404);
      expect((await host.request('GET', `/api/v1/notify-outbox/${id}`)).status, String(id)).to.equal(404);
    }
    expect(device.sent).to.have.length(2);
  });

  it('answers as the API document says', async () => {
    const device = pager();
    device.replies.push(refused);
    await using host = await pagerHost(device, { agents: { t: agentFile('t', 'tools: [notify]') } });
    host.model.willCall('notify', { content: 'a' });
    const { turnId } = await host.say('t', 'go');
    const document = await documentOf(host);
    const operations = operationsOf(document);
    for (const [name, path] of [
      ['GET /api/v1/notify-outbox', '/api/v1/notify-outbox'],
      ['GET /api/v1/notify-outbox/{id}', '/api/v1/notify-outbox/1'],
      ['POST /api/v1/notify-outbox/{id}/resend', '/api/v1/notify-outbox/1/resend'],
      ['POST /api/v1/notify-outbox/{id}/resend', '/api/v1/notify-outbox/1/resend'],
      ['GET /api/v1/audit/trace/{traceId}', `/api/v1/audit/trace/${turnId}`],
    ] as const) {
      const operation = operations.get(name);
      if (operation === undefined) throw new Error(`${name} is not documented`);
      expect(undocumented(document, operation, await host.request(name.split(' ')[0] ?? '', path)), name).to.equal(undefined);
    }
  });

  it('counts messages, attempts and what waits', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const samples = async () => samplesIn((await host.request('GET', '/metrics')).text);
    const before = await samples();
    for (const type of ['pager', 'feishu', 'webhook']) {
      for (const outcome of ['delivered', 'failed', 'unknown']) {
        expect(before.get(`oryxos_notify_messages_total{type="${type}",outcome="${outcome}"}`), type).to.equal(0);
      }
    }
    for (const outcome of ['delivered', 'refused', 'later', 'unknown']) {
      expect(before.get(`oryxos_notify_attempts_total{outcome="${outcome}"}`)).to.equal(0);
    }
    device.replies.push(OK, refused, later('down', HOUR));
    await submit(host, 'a');
    await inState(host, (await submit(host, 'b')).id, 'failed');
    const { id } = await submit(host, 'c');
    await until('the attempt to be over', async () => (await messageOf(host, id)).error);
    const after = await samples();
    expect(after.get('oryxos_notify_messages_total{type="pager",outcome="delivered"}')).to.equal(1);
    expect(after.get('oryxos_notify_messages_total{type="pager",outcome="failed"}')).to.equal(1);
    expect(after.get('oryxos_notify_attempts_total{outcome="later"}')).to.equal(1);
    expect(after.get('oryxos_notify_outbox_pending')).to.equal(1);
  });
});

describe('the timeline of a run', function () {
  this.timeout(30_000);

  it('shows its messages and where they are, and numbers its steps as before', async () => {
    const device = pager();
    device.replies.push(OK, refused);
    await using host = await pagerHost(device, { agents: { t: agentFile('t', 'tools: [notify]') } });
    host.model.will({
      calls: [
        { name: 'notify', arguments: { content: 'a' } },
        { name: 'notify', arguments: { content: 'b' } },
      ],
    });
    const { turnId } = await host.say('t', 'go');
    await submit(host, 'of no run');
    const { data } = await host.request('GET', `/api/v1/audit/trace/${turnId}`);
    expect(data.steps.map(({ seq, type }: { seq: number; type: string }) => [seq, type])).to.deep.equal([
      [1, 'LLM'],
      [2, 'TOOL'],
      [3, 'TOOL'],
      [4, 'LLM'],
    ]);
    expect(data.notifications).to.have.length(2);
    expect(data.notifications[0]).to.include({ id: 1, channel: 'team', state: 'delivered', attempts: 1, error: null });
    expect(data.notifications[1]).to.include({ id: 2, state: 'failed', error: 'no', errorCode: '19001' });
    expect(data.notifications[0]).to.not.have.any.keys('content', 'traceId');
    const none = await host.request('GET', '/api/v1/audit/trace/nothing');
    expect(none.data).to.have.all.keys('traceId', 'found', 'steps', 'summary');
  });

  it('does without a list that cannot be read, or whose name is taken', async () => {
    const item = { type: 'object' } as const;
    const plugin = definePlugin({
      name: 'notes',
      setup(ctx) {
        ctx.register('traceNote', { name: 'broken', item, of: () => Promise.reject(new Error('no')) });
        ctx.register('traceNote', { name: 'steps', item, of: async () => [{ seq: 99 }] });
      },
    });
    await using host = await pagerHost(pager(), { plugins: [plugin] });
    const { status, data } = await host.request('GET', '/api/v1/audit/trace/nothing');
    expect(status).to.equal(200);
    expect(data).to.have.all.keys('traceId', 'found', 'steps', 'summary');
    expect(data.steps).to.deep.equal([]);
  });
});

describe('a failed scheduled run', function () {
  this.timeout(30_000);

  it('is told to the channel that the schedule names', async () => {
    const device = pager();
    const yaml = 'tools: []\nschedules:\n  - key: s\n    name: Nightly\n    cron: "0 0 0 1 1 *"\n    message: go\n    on_failure: team';
    await using host = await pagerHost(device, { agents: { t: agentFile('t', yaml) } });
    host.model.willFail({ message: 'the provider is down', retryable: false });
    const { data: schedules } = await host.request('GET', '/api/v2/schedules');
    const { scheduleId } = (schedules as readonly { scheduleId: string }[])[0] ?? { scheduleId: '' };
    expect((await host.request('POST', `/api/v2/schedules/${scheduleId}/run`)).status).to.equal(200);
    await until('the message', () => device.sent.length === 1);
    expect(device.sent[0]?.content).to.include('Schedule "Nightly" of agent "t" failed: the provider is down');
    const reason = await until('the record', async () => {
      const { data } = await host.request('GET', `/api/v2/schedules/${scheduleId}/executions`);
      return (data as readonly { reason: string; traceId: string }[]).find((execution) => execution.reason?.includes('was told'));
    });
    expect(reason.reason).to.include('"team" was told');
    const { data: timeline } = await host.request('GET', `/api/v1/audit/trace/${reason.traceId}`);
    expect(timeline.notifications).to.have.length(1);
  });
});
