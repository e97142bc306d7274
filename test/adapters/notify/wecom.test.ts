import { expect } from 'chai';
import { wecomAdapter } from '../../../adapters/notify/wecom.ts';
import { notifyAdapterContract } from '../../contract/notify-adapter-contract.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { wecomRobot } from './robots.ts';
import { startSender } from './sender.ts';

const KEY = '693a91f6-7bb0-4bc4-97a0-0ec2acfa5aaa';
const PATH = `/cgi-bin/webhook/send?key=${KEY}`;
const now = (): number => fakeClock().now();

notifyAdapterContract('wecom', wecomAdapter, { path: PATH, config: {}, take: wecomRobot({ now, key: KEY }) });

describe('the wecom adapter', () => {
  it('sends a text message', async () => {
    await using sender = await startSender(wecomAdapter, PATH);
    await sender.send('hi');
    expect(JSON.parse(sender.receiver.requests[0]?.text ?? '')).to.deep.equal({ msgtype: 'text', text: { content: 'hi' } });
  });

  it('is refused with the code and text of the vendor, without the links in it', async () => {
    const robot = wecomRobot({ now, key: KEY });
    await using sender = await startSender(wecomAdapter, '/cgi-bin/webhook/send?key=wrong-key-123', (request) => robot(request).reply);
    const outcome = await sender.send('hi');
    expect(outcome).to.include({ ok: false, kind: 'refused', code: '93000' });
    expect(outcome)
      .to.have.property('message')
      .that.matches(/^WeCom answered: invalid webhook url, .* more info at \(URL\)$/);
    await using other = await startSender(wecomAdapter, PATH, (request) => robot(request).reply);
    expect(await other.send('报'.repeat(683))).to.include({ kind: 'refused', code: '40058' });
    expect(await other.send('报'.repeat(682))).to.deep.equal({ ok: true });
  });

  it('may be tried in a minute when it is too fast, and later when the vendor is busy', async () => {
    const robot = wecomRobot({ now, key: KEY, rates: [{ count: 1, perMs: 60_000 }] });
    await using sender = await startSender(wecomAdapter, PATH, (request) => robot(request).reply);
    expect(await sender.send('one')).to.deep.equal({ ok: true });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '45009', retryAfterMs: 60_000 });
    sender.receiver.will({ body: '{"errcode":-1,"errmsg":"system error"}' });
    expect(await sender.send('two'))
      .to.include({ kind: 'later', code: '-1' })
      .and.not.have.property('retryAfterMs');
  });

  it('does not take a 200 of somebody else for success', async () => {
    await using sender = await startSender(wecomAdapter, PATH, () => ({ body: '{"code":0}' }));
    expect(await sender.send('hi')).to.include({ kind: 'unknown' });
  });
});
