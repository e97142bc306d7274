/** The main job against a real OpenAI-compatible HTTP server. */
import { expect } from 'chai';
import { agentFile, startHost, type TestHost, until } from '../harness/index.ts';
import { callsTools, page, json, type ModelReply, type ModelServer, raw, says, startModelServer, status } from '../harness/model-server.ts';

const agents = {
  t: agentFile('t', 'tools: [current_time, read_file]'),
  f: agentFile('f', 'tools: [read_file]\nsettings: {on_fatal_tool_error: feedback}'),
};

describe('the main job over a real model server', () => {
  let server: ModelServer;
  let host: TestHost;
  beforeEach(async () => {
    server = await startModelServer();
    host = await startHost({ agents, modelUrl: server.baseUrl });
  });
  afterEach(async () => {
    await host.stop();
    await server[Symbol.asyncDispose]();
  });

  const invoke = (content = 'hi'): ReturnType<TestHost['request']> => host.request('POST', '/api/v1/agents/t/invoke', { content });

  it('streams, calls a tool, and answers', async () => {
    server.will(callsTools([{ name: 'current_time', arguments: { timezone: 'UTC' } }], { content: 'let me look' }), says('it is late'));
    const { events } = await host.stream('/api/v1/agents/t/invoke', { content: 'time?' });
    const done = events.at(-1);
    expect(done?.data).to.include({ reply: 'let me look\n\nit is late', stopReason: 'completed' });
    const [first, second] = server.requests;
    expect(first?.body).to.deep.include({ stream: true, model: 'test-model' });
    const sent: readonly { role: string; content: string }[] = second?.body.messages;
    expect(sent.map(({ role }) => role)).to.deep.equal(['system', 'user', 'assistant', 'tool']);
    expect(sent.at(-1)?.content).to.match(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} \+00:00$/);
  });

  it('uses one connection for call after call', async () => {
    server.will(callsTools([{ name: 'current_time' }]), says('a'), says('b'));
    await invoke();
    await invoke();
    expect(server.connections).to.equal(1);
  });

  it('reads a file in the agent\u2019s own directory and refuses one outside', async () => {
    await host.write('agents/t/note.txt', 'the note');
    server.will(callsTools([{ name: 'read_file', arguments: { path: 'note.txt' } }]), says('read'));
    expect((await invoke()).status).to.equal(200);
    expect(JSON.stringify(server.requests[1]?.body)).to.include('the note');
    for (const path of ['/etc/passwd', '../../../x', '../../master.key']) {
      server.will(callsTools([{ name: 'read_file', arguments: { path } }]));
      const refused = await invoke();
      expect(refused.status).to.equal(422);
      expect(refused.message).to.match(/whitelist|protected/);
    }
    server.will(callsTools([{ name: 'read_file', arguments: { path: '/etc/passwd' } }]), says('understood'));
    const fedBack = await host.request('POST', '/api/v1/agents/f/invoke', { content: 'hi' });
    expect(fedBack.data).to.include({ reply: 'understood' });
  });

  const temporary: readonly (readonly [string, ModelReply])[] = [
    ['500', status(500)],
    ['503', status(503)],
    ['408', status(408)],
    ['429 with a short Retry-After', status(429, {}, { 'retry-after': '0' })],
    ['a page instead of an answer', page()],
    ['an answer without choices', json({ choices: [] })],
    ['a stream that is cut before it says anything', raw(['data: {"choices"'])],
    ['broken JSON', raw(['data: {bad\n\n'])],
  ];
  for (const [what, failure] of temporary) {
    it(`tries again after ${what}, and the client never notices`, async function () {
      this.timeout(10_000);
      server.will(failure, says('there you are'));
      const { status: code, data } = await invoke();
      expect(code).to.equal(200);
      expect(data).to.include({ reply: 'there you are' });
      expect(server.requests).to.have.length(2);
    });
  }

  for (const code of [400, 401, 403, 404, 422]) {
    it(`does not repeat a request that was refused with ${code}`, async () => {
      server.will(status(code, { error: { message: `no: sk-abcdefghijklmnop` } }));
      const answer = await invoke();
      expect(answer).to.include({ status: 503, code: 503 });
      expect(answer.message).to.include('scripted');
      expect(answer.message).to.not.include('sk-abcdefghijklmnop');
      expect(server.requests).to.have.length(1);
    });
  }

  it('gives up after three attempts with 503 and keeps the message', async function () {
    this.timeout(10_000);
    server.will(status(500), status(500), status(500));
    await host.request('POST', '/api/v1/sessions', { profile: 't' });
    const answer = await host.request('POST', '/api/v1/sessions/web:default:t/messages', { content: 'keep me' });
    expect(answer.status).to.equal(503);
    expect(server.requests).to.have.length(3);
    const { data } = await host.request('GET', '/api/v1/sessions/web:default:t');
    expect((data as { messages: { content: string }[] }).messages.map(({ content }) => content)).to.deep.equal(['keep me']);
  });

  it('neither repeats nor stores a reply that was cut in mid-sentence', async () => {
    const piece = 'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n';
    server.will(raw([piece]), says('fine'));
    await host.request('POST', '/api/v1/sessions', { profile: 't' });
    const { events } = await host.stream('/api/v1/sessions/web:default:t/messages', { content: 'one' });
    expect(events.map(({ event }) => event)).to.deep.equal(['trace', 'token', 'error']);
    expect(events.at(-1)?.data).to.include({ code: 503 });
    expect(server.requests).to.have.length(1);
    await host.request('POST', '/api/v1/sessions/web:default:t/messages', { content: 'two' });
    const { data } = await host.request('GET', '/api/v1/sessions/web:default:t');
    expect((data as { messages: { content: string }[] }).messages.map(({ content }) => content)).to.deep.equal(['one', 'two', 'fine']);
  });

  it('follows an edit of AGENT.md while it runs', async () => {
    await invoke();
    await host.write('agents/t/AGENT.md', agentFile('t', 'tools: []', 'You are a pirate.'));
    await until('the new text', async () => {
      await invoke();
      return JSON.stringify(server.requests.at(-1)?.body).includes('You are a pirate.');
    });
  });
});
