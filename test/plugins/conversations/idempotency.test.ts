import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../kernel/index.ts';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';
import { gate, openStream, textOf } from './stream-client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const agents = { t: agentFile('t'), other: agentFile('other') };
const SESSION = '/api/v1/sessions/web:u:t/messages';

/** The system's clock, `aheadMs` ahead of time. */
function shiftedClock() {
  const clock = systemClock();
  const shifted = { ...clock, aheadMs: 0, now: () => clock.now() + shifted.aheadMs };
  return shifted;
}

describe('Idempotency-Key', () => {
  const clock = shiftedClock();
  let host: TestHost;
  beforeEach(async () => {
    clock.aheadMs = 0;
    host = await startHost({ agents, clock });
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'u' });
    host.model.always(() => ({ content: `answer number ${host.model.requests.length}` }));
  });
  afterEach(() => host.stop());

  const say = (key: string, content = 'hi', path = SESSION) => host.request('POST', path, { content }, { 'idempotency-key': key });
  const stream = (key: string, content = 'hi', path = SESSION) => host.stream(path, { content }, { 'idempotency-key': key });

  for (const path of [SESSION, '/api/v1/agents/t/invoke', '/api/v1/agents/t/session/messages']) {
    it(`replays a finished run: ${path}`, async () => {
      const first = await say('k', 'hi', path);
      const second = await say('k', 'hi', path);
      expect(second.status).to.equal(200);
      expect(second.data).to.deep.equal(first.data);
      expect(second.headers['x-trace-id']).to.equal(first.data.traceId);

      const streamed = await stream('k', 'hi', path);
      expect(streamed.events.map(({ event, data }) => [event, data])).to.deep.equal([
        ['trace', { traceId: first.data.traceId }],
        ['token', { delta: 'answer number 1' }],
        ['done', first.data],
      ]);
      expect(await host.rows('turns')).to.have.length(1);
    });
  }

  it('replays a failed run with its status, and in a stream what it had said', async () => {
    host.model.will({ content: 'so far', calls: [{ name: 'no_such_tool' }] });
    host.model.willFail({ message: 'the provider is down' });
    const first = await say('k');
    expect(first.status).to.equal(503);
    const second = await say('k');
    expect([second.status, second.message, second.headers['x-trace-id']]).to.deep.equal([503, first.message, first.headers['x-trace-id']]);
    const { events } = await stream('k');
    expect(events.map(({ event, data }) => [event, data])).to.deep.equal([
      ['trace', { traceId: first.headers['x-trace-id'] }],
      ['token', { delta: 'so far' }],
      ['error', { code: 503, message: first.message }],
    ]);
    expect(await host.rows('turns')).to.have.length(1);
  });

  it('sends no token when there was nothing said', async () => {
    host.model.willFail();
    await say('k');
    expect((await stream('k')).events.map(({ event }) => event)).to.deep.equal(['trace', 'error']);
    host.model.willSay('');
    await say('l');
    expect((await stream('l')).events.map(({ event }) => event)).to.deep.equal(['trace', 'done']);
  });

  it('attaches to a run in progress, as JSON and as a stream, with what was said before', async () => {
    const rest = gate();
    host.model.will({ content: 'first part', calls: [{ name: 'no_such_tool' }] });
    host.model.will({ content: 'second part', after: rest.opened });
    const first = await openStream(host, SESSION, { content: 'hi' }, { 'idempotency-key': 'k' });
    await until('the second call', () => host.model.requests.length === 2);
    const json = say('k');
    const late = await openStream(host, SESSION, { content: 'hi' }, { 'idempotency-key': 'k' });
    await until('the late client has caught up', () => late.events().length >= 2);
    expect(late.events()[1]).to.deep.include({ event: 'token', data: { delta: 'first part' } });
    rest.open();

    const events = await first.ended();
    const reply = 'first part\n\nsecond part';
    expect(events.at(-1)?.data.reply).to.equal(reply);
    expect((await json).data).to.deep.equal(events.at(-1)?.data);
    const lateEvents = await late.ended();
    expect(lateEvents.at(-1)?.data).to.deep.equal(events.at(-1)?.data);
    expect(textOf(lateEvents)).to.equal(reply);
    expect(await host.rows('turns')).to.have.length(1);
  });

  it('makes one run of twenty equal requests at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, number) => (number % 2 ? say('k') : stream('k'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    expect(new Set(answers.map(({ headers }) => headers['x-trace-id'])).size).to.equal(1);
    expect(await host.rows('turns')).to.have.length(1);
    expect(host.model.requests).to.have.length(1);
    const { messages } = await host.kernel.service('sessions').view('web:u:t');
    expect(messages.map(({ content }) => content)).to.deep.equal(['hi', 'answer number 1']);
  });

  it('settles in the database who was first when several have found no run yet', async () => {
    const idempotency = host.kernel.service('idempotency');
    const engine = host.kernel.service('engine');
    const turn = { profile: 't', sessionId: 'web:u:t', origin: 'trigger', input: 'go', persistent: true } as const;
    const trigger = (body: unknown) => {
      const id = randomUUID();
      const request = { method: 'POST', path: '/api/v1/agents/t/trigger', body, header: () => 'k' };
      return idempotency.once(request, id, (rows) => engine.submit({ ...turn, id }, rows));
    };
    const same = await Promise.all([trigger({}), trigger({}), trigger({})]);
    expect(new Set(same).size).to.equal(1);
    expect(await host.rows('turns')).to.have.length(1);
    expect(await host.rows('idempotency_keys')).to.containSubset([{ scope: 'POST /api/v1/agents/t/trigger', turn_id: same[0] }]);

    const refused = await trigger({ content: 'x' }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'ORYX_CONFLICT' });
  });

  it('refuses another body under the key, also when both come at the same time', async () => {
    expect((await say('k', 'one')).status).to.equal(200);
    const other = await say('k', 'two');
    expect([other.status, other.code, other.data]).to.deep.equal([409, 409, null]);
    expect((await stream('k', 'two')).status).to.equal(409);

    const both = await Promise.all([say('l', 'one'), say('l', 'two')]);
    expect(both.map(({ status }) => status)).to.have.members([200, 409]);
    expect(await host.rows('turns')).to.have.length(2);
  });

  it('takes bodies for the same whatever their white space and order of keys', async () => {
    const keyed = { 'idempotency-key': 'k' };
    const first = await host.request('POST', SESSION, '{"content":"hi","x":[1,{"a":1,"b":2}]}', keyed);
    const second = await host.request('POST', SESSION, ' { "x": [1, {"b": 2, "a": 1}],\n"content": "hi" } ', keyed);
    expect(second.data).to.deep.equal(first.data);
    expect((await host.request('POST', SESSION, '{"content":"hi","x":[{"a":1,"b":2},1]}', keyed)).status).to.equal(409);
  });

  it('counts for one path, however its segments are encoded', async () => {
    const first = await say('k');
    expect((await say('k', 'hi', '/api/v1/sessions/web%3Au%3At/messages')).data).to.deep.equal(first.data);
    const other = await say('k', 'hi', '/api/v1/agents/other/invoke');
    expect(other.data.traceId).to.not.equal(first.data.traceId);
  });

  it('refuses keys that are empty, too long or not visible ASCII, and starts no run', async () => {
    for (const key of ['', ' ', 'a b', 'x'.repeat(256), 'käse']) {
      const answer = await say(key);
      expect([answer.status, answer.data], key).to.deep.equal([400, null]);
      expect(answer.message).to.contain('Idempotency-Key');
    }
    expect(await host.rows('turns')).to.deep.equal([]);
    expect((await say('x'.repeat(255))).status).to.equal(200);
  });

  it('keeps no key of a request that was refused', async () => {
    expect((await say('k', ' ')).status).to.equal(400);
    expect((await say('k', 'hi', '/api/v1/sessions/web:late:t/messages')).status).to.equal(404);
    expect(await host.rows('idempotency_keys')).to.deep.equal([]);
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'late' });
    expect((await say('k', 'hi', '/api/v1/sessions/web:late:t/messages')).status).to.equal(200);
  });

  it('replays also when the agent is gone meanwhile', async () => {
    const first = await say('k', 'hi', '/api/v1/agents/other/invoke');
    await host.request('DELETE', '/api/v1/agents/other');
    expect((await say('k', 'hi', '/api/v1/agents/other/invoke')).data).to.deep.equal(first.data);
    expect((await say('l', 'hi', '/api/v1/agents/other/invoke')).status).to.equal(404);
  });

  it('stands for the run for 24 hours and may be used anew after that', async () => {
    const first = await say('k');
    clock.aheadMs = DAY_MS - 60_000;
    expect((await say('k')).data).to.deep.equal(first.data);
    expect((await say('k', 'another')).status).to.equal(409);
    clock.aheadMs = DAY_MS + 60_000;
    const second = await say('k', 'another');
    expect(second.status).to.equal(200);
    expect(second.data.traceId).to.not.equal(first.data.traceId);
    expect(await host.rows('idempotency_keys')).to.have.length(1);
  });

  it('is cleared away in small slices once it has expired', async () => {
    for (let number = 0; number < 25; number += 1) await say(`k${number}`);
    clock.aheadMs = DAY_MS + 60_000;
    await say('new');
    expect(await host.rows('idempotency_keys')).to.have.length(6);
    await say('newer');
    const keys = (await host.rows('idempotency_keys')).map(({ key }) => key);
    expect(keys).to.have.members(['new', 'newer']);
  });
});

describe('Idempotency-Key after a restart', () => {
  it('still stands for the run', async () => {
    const home = await mkdtemp(join(tmpdir(), 'oryxos-conversations-'));
    const say = (host: TestHost) => host.request('POST', '/api/v1/agents/t/invoke', { content: 'hi' }, { 'idempotency-key': 'k' });
    try {
      await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
      await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agents.t);
      let first: unknown;
      {
        await using host = await startHost({ home });
        first = (await say(host)).data;
      }
      await using host = await startHost({ home });
      expect((await say(host)).data).to.deep.equal(first);
      expect(host.model.requests).to.deep.equal([]);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
