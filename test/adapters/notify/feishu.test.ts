import { expect } from 'chai';
import { feishuAdapter } from '../../../adapters/notify/feishu.ts';
import { notifyAdapterContract } from '../../contract/notify-adapter-contract.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { feishuRobot } from './robots.ts';
import { startSender } from './sender.ts';

const PATH = '/open-apis/bot/v2/hook/0b6d7f1e-53d6-4c1c-8f0a-5f2f8d4f1a77';
const SECRET = 'SECfeishu-0123456789';
const now = (): number => fakeClock().now();

notifyAdapterContract('feishu', feishuAdapter, { path: PATH, config: { secret: SECRET }, take: feishuRobot({ now, secret: SECRET }) });

describe('the feishu adapter', () => {
  it('signs with the time in seconds when there is a secret', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    await sender.send('hi', { secret: SECRET }, 1_796_688_000_999);
    await sender.send('hi');
    const bodies = sender.receiver.requests.map(({ text }) => JSON.parse(text) as unknown);
    const message = { msg_type: 'text', content: { text: 'hi' } };
    expect(bodies).to.deep.equal([{ timestamp: '1796688000', sign: 's2737FDEku2MOgF0G9amI0O5/DBLLsEH5zRT1gH5hNQ=', ...message }, message]);
  });

  it('is refused with the code and text of the vendor', async () => {
    const robot = feishuRobot({ now, secret: SECRET, keyword: 'report' });
    await using sender = await startSender(feishuAdapter, PATH, (request) => robot(request).reply);
    expect(await sender.send('a report', { secret: 'another-secret' })).to.deep.equal({
      ok: false,
      kind: 'refused',
      code: '19021',
      message: 'Feishu answered: sign match fail or timestamp is not within one hour from current time',
    });
    expect(await sender.send('hi', { secret: SECRET })).to.include({ kind: 'refused', code: '19024' });
    expect(await sender.send(`report ${'x'.repeat(20_000)}`, { secret: SECRET })).to.include({ kind: 'refused', code: '19036' });
    expect(await sender.send('a report', { secret: SECRET })).to.deep.equal({ ok: true });
  });

  it('may be tried later when it is too fast, also where the status says something else', async () => {
    const robot = feishuRobot({ now, rates: [{ count: 1, perMs: 60_000 }] });
    await using sender = await startSender(feishuAdapter, PATH, (request) => robot(request).reply);
    expect(await sender.send('one')).to.deep.equal({ ok: true });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '11232' });
    sender.receiver.will({ status: 400, body: '{"code":9499,"msg":"too many request","data":{}}' });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '9499' });
    const headers = { 'x-ogw-ratelimit-limit': '100', 'x-ogw-ratelimit-reset': '52' };
    sender.receiver.will({ status: 400, headers, body: '{"code":99991400,"msg":"request trigger frequency limit"}' });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '99991400', retryAfterMs: 52_000 });
    sender.receiver.will({ status: 429, body: '{"code":1,"msg":"anything"}' });
    expect(await sender.send('two')).to.include({ kind: 'later', code: '1' });
  });

  it('is refused when the same code says that the body is wrong', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    sender.receiver.will({ status: 400, body: '{"code":9499,"msg":"Bad Request","data":{}}' });
    expect(await sender.send('hi')).to.include({ kind: 'refused', code: '9499' });
  });

  it('understands the answers of older addresses', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    sender.receiver.will({ body: '{"Extra":null,"StatusCode":0,"StatusMessage":"success"}' });
    expect(await sender.send('hi')).to.deep.equal({ ok: true });
    sender.receiver.will({ body: '{"StatusCode":19001,"StatusMessage":"token invalid"}' });
    expect(await sender.send('hi')).to.include({ kind: 'refused', code: '19001' });
    sender.receiver.will({ body: '{"code":0,"StatusCode":19001,"StatusMessage":"token invalid"}' });
    expect(await sender.send('hi')).to.include({ kind: 'refused', code: '19001' });
  });

  it('does not take a 200 of somebody else for success', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    for (const body of ['', '<html>sign in</html>', '{"ok":true}', '{"code":"0"}', '[]']) {
      sender.receiver.will({ body });
      const outcome = await sender.send('hi');
      expect(outcome, body).to.include({ kind: 'unknown' });
      expect(outcome).to.have.property('message').that.includes('answered 200 without a result code');
    }
  });

  it('measures the whole body, escapes and signature included', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    const content = 'a "b"\n报告🦌\u0001';
    await sender.send(content, { secret: SECRET });
    expect(feishuAdapter.sizeOf?.(content)).to.equal(Buffer.byteLength(sender.receiver.requests[0]?.text ?? ''));
  });

  it('adds the headers of the channel, as a gateway may want them', async () => {
    await using sender = await startSender(feishuAdapter, PATH);
    await sender.send('hi', { headers: { 'X-Gateway': 'key-11223344' } });
    expect(sender.receiver.requests[0]?.headers).to.include({ 'x-gateway': 'key-11223344' });
  });

  it('refuses a secret that is no text', () => {
    expect(feishuAdapter.configProblem?.({ secret: 5 })).to.equal('config.secret must be a string');
    expect(feishuAdapter.configProblem?.({ secret: 'x', rate_per_minute: 5 })).to.equal(undefined);
  });
});
