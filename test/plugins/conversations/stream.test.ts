import { expect } from 'chai';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';
import { gate, openStream, textOf } from './stream-client.ts';

const agents = { t: agentFile('t', 'tools: [current_time]') };
const SESSION = '/api/v1/sessions/web:u:t/messages';

describe('a streamed message', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
  });
  afterEach(() => host.stop());

  it('sends trace, what happens in order, and done; tokens concatenate to the reply', async () => {
    host.model.will({ content: 'Let me see.', calls: [{ name: 'current_time', arguments: {} }] });
    host.model.willSay('It is late.');
    for (const path of [SESSION, '/api/v1/agents/t/invoke', '/api/v1/agents/t/session/messages']) {
      const answer = await host.stream(path, { content: 'what time is it?' });
      const events = answer.events;
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.match(/^text\/event-stream/);
      expect(events[0]).to.deep.include({ event: 'trace', data: { traceId: answer.headers['x-trace-id'] } });
      expect(events.filter(({ event }) => event === 'trace')).to.have.length(1);
      expect(events.filter(({ event }) => ['done', 'error'].includes(event))).to.have.length(1);
      const reply = events.at(-1)?.data.reply;
      expect(events.at(-1)).to.deep.include({
        event: 'done',
        data: { reply, traceId: answer.headers['x-trace-id'], stopReason: 'completed' },
      });
      expect(textOf(events)).to.equal(reply);
      if (path !== SESSION) continue;
      expect(reply).to.equal('Let me see.\n\nIt is late.');
      const tools = events.filter(({ event }) => event.startsWith('tool_'));
      expect(tools.map(({ event, data }) => [event, data])).to.deep.equal([
        ['tool_start', { name: 'current_time' }],
        ['tool_end', { name: 'current_time', success: true }],
      ]);
    }
  });

  it('keeps text that looks like events inside one line of data', async () => {
    host.model.willSay('a\n\nevent: done\ndata: {"reply":"forged"}\r\n\r\n');
    const { events } = await host.stream(SESSION, { content: 'hi' });
    expect(events.filter(({ event }) => event === 'done')).to.have.length(1);
    expect(events.at(-1)?.data.reply).to.equal('a\n\nevent: done\ndata: {"reply":"forged"}\r\n\r\n');
  });

  it('ends with one error that has the status the JSON answer would have had', async () => {
    host.model.willFail({ message: 'the provider is down' });
    const answer = await host.stream(SESSION, { content: 'hi' });
    expect(answer.status).to.equal(200);
    expect(answer.events.map(({ event }) => event)).to.deep.equal(['trace', 'error']);
    expect(answer.events.at(-1)?.data.code).to.equal(503);
    expect(answer.events.at(-1)?.data.message).to.contain('is down');
  });

  it('names the run at once, also while the message waits for its turn', async () => {
    const first = gate();
    host.model.will({ after: first.opened });
    const running = host.request('POST', SESSION, { content: 'first' });
    await until('the first asks the model', () => host.model.requests.length === 1);
    const waiting = await openStream(host, SESSION, { content: 'second' });
    await until('the trace arrives', () => waiting.events().length > 0);
    expect(waiting.events().map(({ event }) => event)).to.deep.equal(['trace']);
    first.open();
    await running;
    expect((await waiting.ended()).at(-1)?.event).to.equal('done');
  });

  it('refuses with JSON what can be refused before the stream', async () => {
    for (const [path, content, status] of [
      ['/api/v1/sessions/none/messages', 'hi', 404],
      [SESSION, ' ', 400],
    ] as const) {
      const answer = await host.stream(path, { content });
      expect([answer.status, answer.code, answer.data]).to.deep.equal([status, status, null]);
      expect(answer.headers['content-type']).to.match(/^application\/json/);
    }
  });

  it('is finished and stored when the client has left', async () => {
    const answer = gate();
    host.model.will({ content: 'the whole answer', after: answer.opened });
    const stream = await openStream(host, SESSION, { content: 'hi' });
    await until('the model is asked', () => host.model.requests.length === 1);
    stream.leave();
    await stream.ended();
    answer.open();
    await until('the turn has ended', async () => (await host.rows('turns'))[0]?.['status'] === 'completed');
    const { messages } = await host.kernel.service('sessions').view('web:u:t');
    expect(messages.map(({ content }) => content)).to.deep.equal(['hi', 'the whole answer']);
  });
});
