import { expect } from 'chai';
import { fakeClock, type TestHost, until } from '../../harness/index.ts';
import { later, messageOf, pager, pagerHost } from './outbox-fixture.ts';

const test = (host: TestHost, body?: unknown, name = 'team') => host.request('POST', `/api/v1/notify-channels/${name}/test`, body);

describe('the test of a notify channel', function () {
  this.timeout(20_000);

  it('sends a message that names the channel, and answers that it was delivered', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const { status, data } = await test(host);
    expect(status).to.equal(200);
    expect(data).to.deep.equal({ state: 'delivered', id: data.id, error: null, errorCode: null });
    expect(device.sent.map(({ channel, content }) => [channel, content])).to.deep.equal([
      ['team', 'This is a test message from OryxOS to the channel "team".'],
    ]);
    expect((await messageOf(host, data.id)).state).to.equal('delivered');
  });

  it('sends what it is told, as a message of its own each time', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const answers = [await test(host, { content: 'Hello' }), await test(host, { content: 'Hello' })];
    expect(new Set(answers.map(({ data }) => data.id)).size).to.equal(2);
    expect(device.sent.map(({ content }) => content)).to.deep.equal(['Hello', 'Hello']);
  });

  it('answers 200 with the code of a receiver that refuses', async () => {
    const device = pager();
    device.replies.push({ ok: false, kind: 'refused', message: 'the pager answered: bad sign', code: '19021' });
    await using host = await pagerHost(device);
    const { status, data } = await test(host);
    expect([status, data.state, data.errorCode]).to.deep.equal([200, 'failed', '19021']);
    expect(data.error).to.include('bad sign');
  });

  it('waits 30 s for a receiver that is busy, and answers that the message waits', async () => {
    const clock = fakeClock();
    const device = pager();
    device.always = () => later('the pager is busy', 600_000);
    await using host = await pagerHost(device, { clock });
    const answer = test(host);
    await until('the attempt', () => device.sent[0]);
    await until('the wait', async () => (await host.rows('notify_outbox'))[0]?.['error'] !== null);
    await clock.tick(30_000);
    const { status, data } = await answer;
    expect([status, data.state]).to.deep.equal([200, 'pending']);
    expect(data.error).to.include('busy');
  });

  it('refuses an unknown channel, also the word for the default one, and an empty text', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    expect((await test(host, {}, 'none')).status).to.equal(404);
    expect((await test(host, {}, 'default')).status).to.equal(404);
    expect((await test(host, { content: '' })).status).to.equal(400);
    expect(device.sent).to.deep.equal([]);
  });
});
