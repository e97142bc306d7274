import { expect } from 'chai';
import { dingtalkAdapter } from '../../../adapters/notify/dingtalk.ts';
import { notifyAdapterContract } from '../../contract/notify-adapter-contract.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { dingtalkRobot } from './robots.ts';
import { startSender } from './sender.ts';

const PATH = '/robot/send?access_token=566cc69da782ec33e42541b32e1d2e7f';
const SECRET = 'SECdingtalk-0123456789';
const now = (): number => fakeClock().now();

notifyAdapterContract('dingtalk', dingtalkAdapter, {
  path: PATH,
  config: { secret: SECRET },
  take: dingtalkRobot({ now, secret: SECRET }),
});

describe('the dingtalk adapter', () => {
  it('signs in the query with the time in milliseconds when there is a secret', async () => {
    const signature = 'timestamp=1796688000123&sign=qtEQviEqGP1K8zxH44%2FXhnQvzN70WTJTu1QIX7PRuuA%3D';
    for (const [path, expected] of [
      [PATH, `${PATH}&${signature}`],
      ['/robot/send', `/robot/send?${signature}`],
      [`${PATH}#top`, `${PATH}&${signature}`],
    ] as const) {
      await using sender = await startSender(dingtalkAdapter, path);
      await sender.send('hi', { secret: SECRET }, 1_796_688_000_123);
      expect(sender.receiver.requests[0]?.path).to.equal(expected);
      expect(JSON.parse(sender.receiver.requests[0]?.text ?? '')).to.deep.equal({ msgtype: 'text', text: { content: 'hi' } });
    }
    await using sender = await startSender(dingtalkAdapter, PATH);
    await sender.send('hi');
    expect(sender.receiver.requests[0]?.path).to.equal(PATH);
  });

  it('is refused with the code and text of the vendor', async () => {
    const robot = dingtalkRobot({ now, secret: SECRET, keyword: 'report' });
    await using sender = await startSender(dingtalkAdapter, PATH, (request) => robot(request).reply);
    const refused = await sender.send('a report', { secret: 'another-secret' });
    expect(refused).to.include({ kind: 'refused', code: '310000' });
    expect(refused).to.have.property('message').that.includes('DingTalk answered: sign not match');
    expect(await sender.send('hi', { secret: SECRET })).to.include({ kind: 'refused', code: '310000' });
    expect(await sender.send('x'.repeat(20_000), { secret: SECRET })).to.include({ kind: 'refused', code: '460101' });
    expect(await sender.send('a report', { secret: SECRET })).to.deep.equal({ ok: true });
  });

  it('may be tried in ten minutes when it is too fast, which is how long the vendor shuts it out', async () => {
    let time = now();
    const robot = dingtalkRobot({ now: () => time, rates: [{ count: 1, perMs: 60_000 }] });
    await using sender = await startSender(dingtalkAdapter, PATH, (request) => robot(request).reply);
    expect(await sender.send('one')).to.deep.equal({ ok: true });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '130101', retryAfterMs: 600_000 });
    time += 600_000;
    expect(await sender.send('two')).to.deep.equal({ ok: true });
    for (const code of [410100, 660026]) {
      sender.receiver.will({ body: JSON.stringify({ errcode: code, errmsg: '发送速度太快而限流' }) });
      expect(await sender.send('three')).to.include({ kind: 'later', code: String(code), retryAfterMs: 600_000 });
    }
    sender.receiver.will({ body: '{"errcode":-1,"errmsg":"系统繁忙"}' });
    expect(await sender.send('three'))
      .to.include({ kind: 'later', code: '-1' })
      .and.not.have.property('retryAfterMs');
  });

  it('does not take a 200 of somebody else for success', async () => {
    await using sender = await startSender(dingtalkAdapter, PATH, () => ({ body: '{"code":0}' }));
    expect(await sender.send('hi')).to.include({ kind: 'unknown' });
  });
});
