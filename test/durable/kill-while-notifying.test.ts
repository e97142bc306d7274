import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from '../harness/http-client.ts';
import { agentFile } from '../harness/start-host.ts';
import { until } from '../harness/until.ts';
import { idle } from './crash-checks.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startServer } from './server-process.ts';

interface Message {
  readonly id: number;
  readonly state: string;
  readonly parts: number;
  readonly partsSent: number;
  readonly attempts: number;
  readonly error: string | null;
}

const SESSION = 'web:default:t';
const TEXT = 'first line\nsecond line\nthird line\n';

/** A model that wants one message sent and then says "done" and what the tool returned. */
async function notifyingModel(content: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((asked, response) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    asked.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: string }[] };
      const result = messages.find(({ role }) => role === 'tool')?.content;
      const call = { index: 0, id: 'call-1', type: 'function', function: { name: 'notify', arguments: JSON.stringify({ content }) } };
      const deltas =
        result === undefined
          ? [{ delta: { tool_calls: [call] } }, { delta: {}, finish_reason: 'tool_calls' }]
          : [{ delta: { content: `done: ${result}` } }, { delta: {}, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of deltas) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...delta }] })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('kill -9 while a message is on its way', function () {
  this.timeout(240_000);
  let home: string;
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
    home = await mkdtemp(join(tmpdir(), 'oryxos-notify-crash-'));
    await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
    await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [notify]'));
  });
  afterEach(async () => {
    await receiver[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  const outbox = async (url: string): Promise<Message | undefined> =>
    ((await request(url, 'GET', '/api/v1/notify-outbox')).data as readonly Message[])[0];

  /** Starts a run that notifies. Resolves with whether the server was killed before it answered. */
  async function begin(url: string): Promise<{ readonly killed: Promise<boolean> }> {
    const channel = { name: 'team', type: 'pager', url: receiver.url };
    expect((await request(url, 'POST', '/api/v1/notify-channels', channel)).message).to.equal('success');
    await request(url, 'POST', '/api/v1/sessions', { profile: 't' });
    const answered = request(url, 'POST', `/api/v1/sessions/${SESSION}/messages`, { content: 'x' });
    return { killed: answered.then(() => false).catch(() => true) };
  }

  /** What the run said after it was taken up again. */
  async function replyOf(url: string): Promise<string> {
    await idle(url);
    const { data } = await request(url, 'GET', `/api/v1/sessions/${SESSION}`);
    return (
      (data as { messages: readonly { role: string; content: string }[] }).messages.findLast(({ role }) => role === 'assistant')?.content ??
      ''
    );
  }

  it('between acceptance and delivery: it is delivered once after the start, and the run that waited hears of it', async () => {
    await using model = await notifyingModel(TEXT);
    receiver.answer = (response) => void response.writeHead(503).end();
    const first = await startServer(home, model.url);
    await begin(first.url);
    await until('the attempt to be over', async () => (await outbox(first.url))?.error, 20_000);
    await first.kill('SIGKILL');
    receiver.got.length = 0;
    receiver.answer = (response) => void response.end();
    await using second = await startServer(home, model.url);
    await until('delivery', async () => (await outbox(second.url))?.state === 'delivered', 20_000);
    expect(await replyOf(second.url)).to.equal('done: Sent to team');
    expect(receiver.got.map(({ content }) => content)).to.deep.equal(['first line\n', 'second line\n', 'third line\n']);
    expect(new Set(receiver.got.map(({ key }) => key)).size).to.equal(3);
    expect(await outbox(second.url)).to.include({ parts: 3, partsSent: 3 });
  });

  it('while the receiver has a part and has not answered: its outcome is unknown, and it is not sent again', async () => {
    await using model = await notifyingModel(TEXT);
    receiver.answer = (response, content) => void (content === 'first line\n' && response.end());
    const first = await startServer(home, model.url);
    await begin(first.url);
    await until('the receiver to have two parts', () => receiver.got.length === 2, 20_000);
    await first.kill('SIGKILL');
    receiver.answer = (response) => void response.end();
    await using second = await startServer(home, model.url);
    expect(await replyOf(second.url))
      .to.include('It is unknown whether team got the message')
      .and.include('1 of 3 parts were delivered');
    expect(await outbox(second.url)).to.include({ state: 'unknown', parts: 3, partsSent: 1, attempts: 2 });
    expect(receiver.got.map(({ content }) => content)).to.deep.equal(['first line\n', 'second line\n']);

    expect((await request(second.url, 'POST', '/api/v1/notify-outbox/1/resend')).status).to.equal(200);
    await until('delivery', async () => (await outbox(second.url))?.state === 'delivered', 20_000);
    expect(receiver.got.slice(2).map(({ content }) => content)).to.deep.equal(['second line\n', 'third line\n']);
  });

  it('at every step of the run that notifies: one message, delivered once or known to be unknown', async () => {
    for (let boundary = 1, killed = true; killed; boundary += 1) {
      await rm(join(home, 'workspace'), { recursive: true, force: true });
      await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
      await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agentFile('t', 'tools: [notify]'));
      receiver.got.length = 0;
      await using model = await notifyingModel('short');
      const first = await startServer(home, model.url, `step@${boundary}:SIGKILL`);
      killed = await (await begin(first.url)).killed;
      if (killed) await first.gone;
      else await first.kill('SIGKILL');
      await using second = await startServer(home, model.url);
      const reply = await replyOf(second.url);
      const message = await outbox(second.url);
      const about = `killed at boundary ${boundary}`;
      expect(receiver.got, about).to.have.length(1);
      expect(['delivered', 'unknown'], about).to.include(message?.state);
      expect(reply, about).to.match(message?.state === 'delivered' ? /^done: Sent to team$/ : /unknown whether team got/);
    }
  });
});
