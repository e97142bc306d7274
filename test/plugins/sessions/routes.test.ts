import { expect } from 'chai';
import { agentFile, fakeClock, startHost, type TestHost } from '../../harness/index.ts';

const agents = { t: agentFile('t') };

const create = (host: TestHost, body: unknown) => host.request('POST', '/api/v1/sessions', body);
const say = (host: TestHost, id: string, content: string) => host.request('POST', `/api/v1/sessions/${id}/messages`, { content });
const list = async (host: TestHost, query = ''): Promise<readonly string[]> =>
  (await host.request('GET', `/api/v1/sessions${query}`)).data.map(({ sessionId }: { sessionId: string }) => sessionId);

describe('the session endpoints', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents });
  });
  afterEach(() => host.stop());

  it('create the session of a user with an agent, once', async () => {
    const first = await create(host, { profile: 't', userId: 'anna@example.org' });
    expect(first.data).to.deep.equal({ sessionId: 'web:anna@example.org:t' });
    expect((await create(host, { profile: 't', userId: 'anna@example.org' })).data).to.deep.equal(first.data);
    expect((await create(host, { profile: 't' })).data).to.deep.equal({ sessionId: 'web:default:t' });
    expect(await host.rows('sessions')).to.have.length(2);
  });

  it('yield one session to all who create it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(host, { profile: 't', userId: 'u' })));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    const sessions = host.kernel.service('sessions');
    const key = { channel: 'web', userId: 'v', agent: 't' };
    const opened = await Promise.all([sessions.open(key), sessions.open(key), sessions.open(key)]);
    expect(opened.map(({ sessionId }) => sessionId)).to.deep.equal(Array(3).fill('web:v:t'));
    expect(await host.rows('sessions')).to.have.length(2);
  });

  it('refuse a missing or blank profile, user ids outside the pattern and unknown agents, and create nothing', async () => {
    const bad = ['a:b', 'a/b', 'a b', '', 'ä', 'x'.repeat(65)].map((userId) => ({ profile: 't', userId }));
    for (const body of [{}, { profile: '' }, { profile: '  ' }, { profile: 7 }, { profile: null }, { profile: 't', userId: 7 }, ...bad]) {
      const answer = await create(host, body);
      expect(answer.status, JSON.stringify(body)).to.equal(400);
      expect(answer.data).to.equal(null);
    }
    expect((await create(host, { profile: 'nobody' })).status).to.equal(404);
    expect(await host.rows('sessions')).to.deep.equal([]);
  });

  it('show messages with nulls for what a message does not have and a list of tool calls in any case', async () => {
    await create(host, { profile: 't' });
    host.model.willCall('no_such_tool', { a: 1 }, 'c1');
    host.model.willSay('done');
    await say(host, 'web:default:t', 'go');
    const { data } = await host.request('GET', '/api/v1/sessions/web:default:t');
    expect({ ...data, messages: undefined }).to.deep.equal({ sessionId: 'web:default:t', profileName: 't', messages: undefined });
    const [user, call, result, answer] = data.messages;
    expect(user).to.deep.equal({ role: 'user', content: 'go', toolName: null, toolCallId: null, toolCalls: [] });
    expect(call.toolCalls).to.deep.equal([{ id: 'c1', name: 'no_such_tool', argumentsJson: '{"a":1}' }]);
    expect(call).to.include({ role: 'assistant', content: '', toolName: null, toolCallId: null });
    expect(result).to.deep.include({ role: 'tool', toolName: 'no_such_tool', toolCallId: 'c1', toolCalls: [] });
    expect(answer).to.deep.equal({ role: 'assistant', content: 'done', toolName: null, toolCallId: null, toolCalls: [] });
  });

  it('show the last 100 messages, oldest first', async () => {
    await create(host, { profile: 't' });
    host.model.will({ calls: Array.from({ length: 32 }, () => ({ name: 'no_such_tool' })) });
    for (let number = 0; number < 3; number += 1) await say(host, 'web:default:t', `m${number}`);
    host.model.will({ calls: Array.from({ length: 32 }, () => ({ name: 'no_such_tool' })) });
    host.model.will({ calls: Array.from({ length: 32 }, () => ({ name: 'no_such_tool' })) });
    await say(host, 'web:default:t', 'm3');
    const { messages } = (await host.request('GET', '/api/v1/sessions/web:default:t')).data;
    const stored = await host.rows('messages');
    expect(stored).to.have.length(35 + 2 + 2 + 68);
    expect(messages.map(({ content }: { content: string }) => content)).to.deep.equal(stored.slice(-100).map(({ content }) => content));
  });

  it('answer 404 for a session that does not exist', async () => {
    for (const [method, path] of [
      ['GET', '/api/v1/sessions/none'],
      ['DELETE', '/api/v1/sessions/none'],
    ] as const) {
      const answer = await host.request(method, path);
      expect([answer.status, answer.code, answer.data]).to.deep.equal([404, 404, null]);
    }
  });

  it('archive without deleting, and count and list by status', async () => {
    for (const userId of ['a', 'b', 'c']) await create(host, { profile: 't', userId });
    await say(host, 'web:b:t', 'hi');
    expect((await host.request('DELETE', '/api/v1/sessions/web:b:t')).data).to.deep.equal({ archived: true });
    expect((await host.request('DELETE', '/api/v1/sessions/web%3Ab%3At')).data).to.deep.equal({ archived: true });

    expect(await list(host, '?status=archived')).to.deep.equal(['web:b:t']);
    expect([...(await list(host, '?status=active'))].sort()).to.deep.equal(['web:a:t', 'web:c:t']);
    expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.equal({ active: 2, archived: 1, total: 3 });
    expect((await host.request('GET', '/api/v1/sessions/web:b:t')).data.messages).to.have.length(2);
    for (const status of ['deleted', '', 'ACTIVE'])
      expect((await host.request('GET', `/api/v1/sessions?status=${status}`)).status).to.equal(400);
  });
});

describe('the list of sessions', () => {
  it('starts with the most recently active, where a session that was never used counts from its creation', async () => {
    const clock = fakeClock(Date.UTC(2026, 5, 28, 10));
    await using host = await startHost({ agents, clock });
    for (const userId of ['a', 'b', 'c']) {
      await create(host, { profile: 't', userId });
      await clock.tick(1000);
    }
    expect(await list(host)).to.deep.equal(['web:c:t', 'web:b:t', 'web:a:t']);
    await say(host, 'web:a:t', 'hi');
    await clock.tick(1000);
    await create(host, { profile: 't', userId: 'd' });
    expect(await list(host)).to.deep.equal(['web:d:t', 'web:a:t', 'web:c:t', 'web:b:t']);

    const [unused, used] = (await host.request('GET', '/api/v1/sessions?status=active')).data;
    expect(used).to.deep.equal({
      sessionId: 'web:a:t',
      profileName: 't',
      channel: 'web',
      userId: 'a',
      status: 'active',
      createdAt: '2026-06-28T10:00:00.000Z',
      lastActiveAt: '2026-06-28T10:00:03.000Z',
      messageCount: 2,
    });
    expect(unused).to.include({ sessionId: 'web:d:t', lastActiveAt: null, messageCount: 0 });
  });

  it('holds at most 100 of the wanted status, however many others are more recent', async () => {
    const clock = fakeClock();
    await using host = await startHost({ agents, clock });
    const sessions = host.kernel.service('sessions');
    for (let number = 0; number < 105; number += 1) await sessions.open({ channel: 'web', userId: `u${number}`, agent: 't' });
    await host.request('DELETE', '/api/v1/sessions/web:u0:t');
    await clock.tick(1000);
    await sessions.open({ channel: 'web', userId: 'last', agent: 't' });

    expect(await list(host)).to.have.length(100);
    expect((await list(host))[0]).to.equal('web:last:t');
    expect(await list(host, '?status=active'))
      .to.have.length(100)
      .and.not.include('web:u0:t');
    expect(await list(host, '?status=archived')).to.deep.equal(['web:u0:t']);
  });
});
