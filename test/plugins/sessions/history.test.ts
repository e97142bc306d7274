import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TurnRequest } from '../../../kernel/index.ts';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';

const agents = { t: agentFile('t', 'settings: {max_history_turns: 3}') };
const SESSION = 'web:u:t';

const turn = (input: string, persistent = true): TurnRequest => ({
  id: randomUUID(),
  profile: 't',
  sessionId: SESSION,
  origin: 'session',
  input,
  persistent,
});

/** What the model was sent at its last call, without the system prompt. */
const sent = (host: TestHost) => host.model.requests.at(-1)?.messages.map(({ content }) => content);
const stored = async (host: TestHost): Promise<readonly string[]> => {
  const rows = await host.rows('messages');
  return rows.map(({ content }) => String(content));
};

describe('the history of a session', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await startHost({ agents });
    await host.kernel.service('sessions').open({ channel: 'web', userId: 'u', agent: 't' });
  });
  afterEach(() => host.stop());

  const say = (input: string) => host.kernel.service('turns').run(turn(input));

  it('holds twenty parallel messages as twenty whole turns in order of acceptance', async () => {
    host.model.always(({ messages }) => ({ content: `re: ${messages.at(-1)?.content}` }));
    const inputs = Array.from({ length: 20 }, (_, number) => `m${number}`);
    await Promise.all(inputs.map(say));

    const whole = inputs.flatMap((input) => [input, `re: ${input}`]);
    expect(await stored(host)).to.deep.equal(whole);
    const view = await host.kernel.service('sessions').view(SESSION);
    expect(view.messages.map(({ content }) => content)).to.deep.equal(whole);
    expect(await host.rows('sessions')).to.containSubset([{ message_count: 40 }]);
  });

  it('has the message of a waiting turn from its acceptance on, behind everything that earlier turns still add', async () => {
    let finish = (): void => undefined;
    host.model.will({ content: 'first answer', after: new Promise<void>((resolve) => (finish = resolve)) });
    const first = say('first');
    await until('the first turn asks the model', () => host.model.requests.length === 1);
    const second = say('second');
    await until('the second message is stored', async () => (await stored(host)).length === 2);
    expect(await stored(host)).to.deep.equal(['first', 'second']);
    expect(await host.kernel.service('history').before(turn('third'), 20)).to.deep.equal([]);

    finish();
    await Promise.all([first, second]);
    expect(await stored(host)).to.deep.equal(['first', 'first answer', 'second', 'ok']);
    expect(sent(host)).to.deep.equal(['first', 'first answer', 'second']);
  });

  it('sends the model the last whole turns and keeps all of them', async () => {
    host.model.willCall('no_such_tool');
    host.model.willSay('a1');
    for (const input of ['m1', 'm2', 'm3']) await say(input);
    expect(sent(host)?.[0]).to.equal('m1');
    expect(sent(host)).to.have.length(4 + 2 + 1);
    await say('m4');
    expect(sent(host)).to.deep.equal(['m2', 'ok', 'm3', 'ok', 'm4']);
    expect(await stored(host)).to.have.length(4 + 2 + 2 + 2);
  });

  it('has no earlier turns when only one may be sent', async () => {
    await say('m1');
    expect(await host.kernel.service('history').before(turn('m2'), 1)).to.deep.equal([]);
    expect(await host.kernel.service('history').before(turn('m2'), 0)).to.deep.equal([]);
  });

  it('keeps the message of a failed turn and what was done', async () => {
    host.model.willCall('no_such_tool', {}, 'c1');
    host.model.willFail({ message: 'the provider is down' });
    expect((await say('m1')).status).to.equal('failed');
    const rows = await host.rows('messages');
    expect(rows.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
    await say('m2');
    expect(host.model.requests.at(-1)?.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'user']);
  });

  it('gives back messages as they were, with calls, results and what the provider wants to see again', async () => {
    host.model.will({
      content: 'let me see',
      calls: [{ name: 'no_such_tool', arguments: { a: 'ü\u0000' }, id: 'c1' }],
      echo: { reasoning_content: 'hm' },
    });
    const { messages } = await say('m1');
    expect(messages[0]).to.deep.include({ echo: { provider: 'scripted', fields: { reasoning_content: 'hm' } } });
    const before = await host.kernel.service('history').before(turn('m2'), 20);
    expect(before).to.deep.equal([{ role: 'user', content: 'm1' }, ...messages]);
  });

  it('knows nothing of turns that are not persistent, and shows them nothing', async () => {
    await say('m1');
    await host.kernel.service('turns').run(turn('secret', false));
    expect(sent(host)).to.deep.equal(['secret']);
    expect(await stored(host)).to.deep.equal(['m1', 'ok']);
  });

  it('is kept for a session that was never opened, and counted when it is', async () => {
    await host.tell('cli:u:t', 't', 'hello');
    expect(await host.rows('sessions')).to.have.length(1);
    await host.kernel.service('sessions').open({ channel: 'cli', userId: 'u', agent: 't' });
    expect(await host.rows('sessions')).to.containSubset([{ session_id: 'cli:u:t', message_count: 2 }]);
    await host.tell('cli:u:t', 't', 'again');
    expect(sent(host)).to.deep.equal(['hello', 'ok', 'again']);
    expect(await host.rows('sessions')).to.containSubset([{ session_id: 'cli:u:t', message_count: 4 }]);
  });
});

describe('the history of a session after a restart', () => {
  it('is what it was', async () => {
    const home = await mkdtemp(join(tmpdir(), 'oryxos-sessions-'));
    try {
      await mkdir(join(home, 'workspace/agents/t'), { recursive: true });
      await writeFile(join(home, 'workspace/agents/t/AGENT.md'), agents.t);
      {
        await using host = await startHost({ home });
        await host.kernel.service('turns').run(turn('m1'));
      }
      await using host = await startHost({ home });
      await host.kernel.service('turns').run(turn('m2'));
      expect(sent(host)).to.deep.equal(['m1', 'ok', 'm2']);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('the sessions of a deleted agent', () => {
  it('are archived, and start afresh when an agent of that name is talked to again', async () => {
    await using host = await startHost({ agents });
    const { turns, sessions } = { turns: host.kernel.service('turns'), sessions: host.kernel.service('sessions') };
    await sessions.open({ channel: 'web', userId: 'u', agent: 't' });
    await sessions.open({ channel: 'web', userId: 'u', agent: 'default' });
    await turns.run(turn('of the old agent'));

    expect((await host.request('DELETE', '/api/v1/agents/t')).status).to.equal(200);
    expect((await sessions.find(SESSION)).status).to.equal('archived');
    expect((await sessions.find('web:u:default')).status).to.equal('active');

    await host.write('agents/t/AGENT.md', agents.t);
    await until('the agent is back', () => host.kernel.registry('profile').get('t'));
    const answer = await host.request('POST', `/api/v1/sessions/${SESSION}/messages`, { content: 'first' });
    expect(answer.status).to.equal(200);
    expect(sent(host)).to.deep.equal(['first']);
    await turns.run(turn('second'));
    expect(sent(host)).to.deep.equal(['first', 'ok', 'second']);

    const view = await sessions.view(SESSION);
    expect(view.messages.map(({ content }) => content)).to.deep.equal(['of the old agent', 'ok', 'first', 'ok', 'second', 'ok']);
    expect((await sessions.find(SESSION)).status).to.equal('active');
  });

  it('leave a turn that was accepted before what it could see then', async () => {
    await using host = await startHost({ agents });
    const { turns, sessions } = { turns: host.kernel.service('turns'), sessions: host.kernel.service('sessions') };
    await sessions.open({ channel: 'web', userId: 'u', agent: 't' });
    await turns.run(turn('m1'));
    let finish = (): void => undefined;
    host.model.will({ content: 'a2', after: new Promise<void>((resolve) => (finish = resolve)) });
    const running = turn('m2');
    const outcome = turns.run(running);
    await until('the turn asks the model', () => host.model.requests.length === 2);

    await sessions.archiveAllOf('t');
    const before = await host.kernel.service('history').before(running, 20);
    expect(before.map(({ content }) => content)).to.deep.equal(['m1', 'ok']);
    finish();
    expect((await outcome).reply).to.equal('a2');
    expect(await host.kernel.service('history').before(turn('m3'), 20)).to.deep.equal([]);
  });
});
