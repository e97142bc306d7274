import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { webhookAdapter } from '../../../adapters/notify/webhook.ts';
import { notifyAdapterContract } from '../../contract/notify-adapter-contract.ts';
import { startSender } from './sender.ts';

const PATH = '/hooks/team?token=aabbccddeeff0011';
const SECRET = 'webhook-secret-0123';
const CONFIG = { secret: SECRET, headers: { Authorization: 'Bearer token-99887766', 'X-Team': 'operations' } };

notifyAdapterContract('webhook', webhookAdapter, {
  path: PATH,
  config: CONFIG,
  take({ headers, text }) {
    const signed = `${String(headers['x-oryx-timestamp'])}.${text}`;
    const isSigned = headers['x-oryx-signature'] === `sha256=${createHmac('sha256', SECRET).update(signed).digest('hex')}`;
    if (!isSigned || headers.authorization !== 'Bearer token-99887766') return { reply: { status: 401 } };
    return { content: (JSON.parse(text) as { content: string }).content, reply: { status: 202 } };
  },
});

describe('the webhook adapter', () => {
  it('sends the content, the key of the message, the headers of the channel, and a signature when there is a secret', async () => {
    await using sender = await startSender(webhookAdapter, PATH);
    await sender.send('hi', CONFIG, 1_796_688_000_999);
    const [request] = sender.receiver.requests;
    expect(request).to.include({ path: PATH, text: '{"content":"hi"}' });
    expect(request?.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'idempotency-key': 'k-1',
      authorization: 'Bearer token-99887766',
      'x-team': 'operations',
      'x-oryx-timestamp': '1796688000',
      'x-oryx-signature': 'sha256=5f319a2d7b459b8bb76146712069b31ddf9b864f2bd6b10b08e4eedd614171aa',
    });
    await sender.send('hi');
    expect(sender.receiver.requests[1]?.headers).to.not.have.any.keys('x-oryx-timestamp', 'x-oryx-signature', 'authorization');
  });

  it('takes any 2xx for success, whatever the body', async () => {
    await using sender = await startSender(webhookAdapter, PATH);
    for (const status of [200, 201, 202, 204]) {
      sender.receiver.will({ status, ...(status !== 204 && { body: '{"errcode":93000,"error":"no"}' }) });
      expect(await sender.send('hi')).to.deep.equal({ ok: true });
    }
  });

  it('shows what the receiver says in its own way', async () => {
    await using sender = await startSender(webhookAdapter, PATH);
    for (const body of ['{"error":{"message":"no such room"}}', '{"error":"no such room"}', '{"detail":"no such room"}', 'no such room']) {
      sender.receiver.will({ status: 404, body });
      expect(await sender.send('hi')).to.deep.equal({
        ok: false,
        kind: 'refused',
        code: '404',
        message: 'the webhook answered 404: no such room',
      });
    }
  });

  it('may be sent again when nobody knows whether it arrived, and has no limits', () => {
    expect(webhookAdapter.repeatable).to.equal(true);
    expect(webhookAdapter).to.not.have.any.keys('maxSize', 'rates');
  });

  it('refuses headers that cannot be sent, and names them', () => {
    const problem = (headers: unknown): string | undefined => webhookAdapter.configProblem?.({ headers });
    expect(problem({ 'X-Key': 'Zürich \t~', authorization: 'Basic eDp5' })).to.equal(undefined);
    expect(problem(['a'])).to.equal('config.headers must be a map of names to strings');
    expect(problem({ 'X-Key': 5 })).to.equal('config.headers: the value of "X-Key" must be a string');
    for (const value of ['a\r\nHost: b', 'a\nb', 'a\0b', '报告']) expect(problem({ 'X-Key': value })).to.include('"X-Key" has characters');
    for (const name of ['', 'a b', 'a:b', 'a\r\nb']) expect(problem({ [name]: 'x' })).to.include('is not the name of a header');
    for (const name of ['Content-Type', 'content-length', 'HOST', 'Transfer-Encoding', 'Connection', 'Idempotency-Key', 'X-Oryx-Signature'])
      expect(problem({ [name]: 'x' })).to.equal(`config.headers: "${name}" cannot be set here`);
    expect(problem({ 'X-Key': 'a', 'x-key': 'b' })).to.include('is there twice');
    expect(webhookAdapter.configProblem?.({ secret: ['x'] })).to.equal('config.secret must be a string');
  });

  it('refuses a header that cannot be sent and was not known before', async () => {
    await using sender = await startSender(webhookAdapter, PATH);
    expect(await sender.send('hi', { headers: { 'X-Key': 'a\r\nb' } })).to.include({ kind: 'refused' });
    expect(sender.receiver.requests).to.deep.equal([]);
  });
});
