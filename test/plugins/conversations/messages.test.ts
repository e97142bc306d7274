import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';
import { gate } from './stream-client.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const agents = { t: agentFile('t'), broken: '---\nname: broken\nprovider: [\n---\n\nHello.\n' };
const SESSION = '/api/v1/sessions/web:u:t/messages';
const ENDPOINTS = [SESSION, '/api/v1/agents/t/invoke', '/api/v1/agents/t/session/messages'];

describe('a message endpoint', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
  });
  afterEach(() => host.stop());

  const say = (path: string, content: unknown, headers?: Readonly<Record<string, string>>) =>
    host.request('POST', path, { content }, headers);

  for (const path of ENDPOINTS) {
    it(`answers with reply, trace id and stop reason: ${path}`, async () => {
      host.model.willSay('Hello there.');
      const answer = await say(path, 'hi');
      expect(answer.status).to.equal(200);
      expect(answer.data.traceId).to.match(UUID);
      expect(answer.data).to.deep.equal({ reply: 'Hello there.', traceId: answer.data.traceId, stopReason: 'completed' });
      expect(answer.headers['x-trace-id']).to.equal(answer.data.traceId);
    });

    it(`refuses content that is missing, no text, blank or too long, before any run: ${path}`, async () => {
      for (const content of [undefined, null, 7, ['x'], '', ' \n\t\u3000', 'x'.repeat(32_769), '😀'.repeat(16_385)]) {
        const answer = await say(path, content);
        expect([answer.status, answer.code, answer.data], String(content).slice(0, 20)).to.deep.equal([400, 400, null]);
      }
      expect(host.model.requests).to.deep.equal([]);
      expect(await host.rows('turns')).to.deep.equal([]);
    });
  }

  it('takes content of exactly 32768 UTF-16 units', async () => {
    expect((await say(SESSION, '😀'.repeat(16_384))).status).to.equal(200);
  });

  it('names the run also when the run fails, with the status of what went wrong', async () => {
    host.model.willFail({ message: 'the provider "scripted" is down' });
    const answer = await say(SESSION, 'hi');
    expect([answer.status, answer.code, answer.data]).to.deep.equal([503, 503, null]);
    expect(answer.message).to.contain('is down');
    expect(answer.headers['x-trace-id']).to.match(UUID);
    expect(await host.rows('turns')).to.containSubset([{ id: answer.headers['x-trace-id'], status: 'failed' }]);
  });

  it('gives the reply so far when the run reaches its limit of iterations', async () => {
    await host.write('agents/short/AGENT.md', agentFile('short', 'settings: {max_iterations: 1}'));
    await until('the agent is live', () => host.kernel.registry('profile').get('short'));
    host.model.will({ content: 'thinking', calls: [{ name: 'no_such_tool' }] });
    const answer = await say('/api/v1/agents/short/invoke', 'hi');
    expect([answer.status, answer.data.reply, answer.data.stopReason]).to.deep.equal([200, 'thinking', 'max_iterations']);
  });

  it('answers 404 for an unknown session or agent, 409 for a broken agent and 503 for a session whose agent is gone', async () => {
    await host.request('POST', '/api/v1/sessions', { profile: 'broken', userId: 'u' });
    await host.kernel.service('sessions').open({ channel: 'web', userId: 'u', agent: 'gone' });
    for (const [path, status] of [
      ['/api/v1/sessions/none/messages', 404],
      ['/api/v1/agents/none/invoke', 404],
      ['/api/v1/agents/none/session/messages', 404],
      ['/api/v1/agents/broken/invoke', 409],
      ['/api/v1/agents/broken/session/messages', 409],
      ['/api/v1/sessions/web:u:broken/messages', 409],
      ['/api/v1/sessions/web:u:gone/messages', 503],
    ] as const) {
      const answer = await say(path, 'hi');
      expect([answer.status, answer.code, answer.data], path).to.deep.equal([status, status, null]);
      const streamed = await host.stream(path, { content: 'hi' });
      expect([streamed.status, streamed.headers['content-type'], streamed.data], path).to.deep.equal([
        status,
        'application/json; charset=utf-8',
        null,
      ]);
    }
    expect(await host.rows('turns')).to.deep.equal([]);
  });

  it('answers 429 when a hundred messages wait in the session, also to a client that asks for a stream', async () => {
    const first = gate();
    host.model.will({ after: first.opened });
    const engine = host.kernel.service('engine');
    const turn = { profile: 't', sessionId: 'web:u:t', origin: 'session', input: 'hi', persistent: true } as const;
    await Promise.all(Array.from({ length: 101 }, () => engine.submit({ ...turn, id: randomUUID() })));
    for (const answer of [await say(SESSION, 'hi'), await host.stream(SESSION, { content: 'hi' })]) {
      expect([answer.status, answer.code, answer.data]).to.deep.equal([429, 429, null]);
    }
    expect(await host.rows('turns')).to.have.length(101);
    first.open();
  });

  it('makes an archived session active again, in the commit that accepts the message', async () => {
    await host.request('DELETE', '/api/v1/sessions/web:u:t');
    expect((await say(SESSION, ' ')).status).to.equal(400);
    expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.equal({ active: 0, archived: 1, total: 1 });
    await say(SESSION, 'hi');
    expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.equal({ active: 1, archived: 0, total: 1 });
    expect(await host.rows('sessions')).to.containSubset([{ status: 'active', archived_at: null }]);
  });

  it('leaves no session behind when it is the stateless one', async () => {
    const before = await host.request('GET', '/api/v1/sessions/stats');
    await say('/api/v1/agents/t/invoke', 'hi');
    expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.equal(before.data);
    expect(await host.rows('messages')).to.deep.equal([]);
    const [turn] = await host.rows('turns');
    expect(turn?.['session_id']).to.match(/^invoke-exec:[0-9a-f-]{36}$/);
  });
});

describe("the console's session", () => {
  it('is created when it is first read, once for each agent', async () => {
    await using host = await startHost({ agents });
    const empty = await host.request('GET', '/api/v1/agents/t/session');
    expect(empty.data).to.deep.equal({ sessionId: 'admin:console:t', profileName: 't', messages: [] });
    await Promise.all(['a', 'b'].map((content) => host.request('POST', '/api/v1/agents/t/session/messages', { content })));
    const { messages } = (await host.request('GET', '/api/v1/agents/t/session')).data;
    expect(messages.map(({ role }: { role: string }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    expect(await host.rows('sessions')).to.have.length(1);
    expect((await host.request('GET', '/api/v1/agents/none/session')).status).to.equal(404);
  });
});
