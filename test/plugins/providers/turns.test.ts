import { expect } from 'chai';
import type { TurnEvent } from '../../../kernel/index.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { agentFile, scriptedModel, startHost, type TestHost } from '../../harness/index.ts';
import {
  callsTools,
  cutsAfter,
  hangsUp,
  type ModelServer,
  page,
  says,
  stalls,
  startModelServer,
  status,
} from '../../harness/model-server.ts';
import { until } from '../../harness/until.ts';

const KEY = 'sk-live-0123456789abcdef';

describe('a turn on a model server', function () {
  this.timeout(30_000);
  const clock = fakeClock();
  let server: ModelServer;
  let host: TestHost;

  before(async () => {
    server = await startModelServer();
    host = await startHost({
      clock,
      // Out of the way: the real adapter serves every provider here.
      model: scriptedModel('unused'),
      config: {
        'oryxos.providers': [
          { name: 'scripted', apiKey: KEY, baseUrl: server.baseUrl },
          { name: 'later-gone', baseUrl: server.baseUrl },
        ],
      },
      agents: {
        a1: agentFile('a1', 'tools: [current_time]'),
        mocked: '---\nname: mocked\nprovider: {name: mock, model: mock}\ntools: [save_memory]\n---\nBe kind.\n',
        careful:
          '---\nname: careful\nprovider:\n  name: scripted\n  model: m\n  fallback: [{name: mock, model: mock}]\ntools: []\n---\nBe kind.\n',
        lost: '---\nname: lost\nprovider: {name: later-gone, model: m}\ntools: []\n---\nBe kind.\n',
      },
    });
  });
  after(async () => {
    await host.stop();
    await server.close();
  });

  /** Runs a turn, moving the clock on while the model is not being asked; resolves with the outcome and how often it was asked. */
  async function turn(agent: string, stepMs: number, onEvent: (event: TurnEvent) => void = () => {}) {
    const before = server.requests.length;
    let isOver = false;
    const running = host.say(agent, 'hi', onEvent).finally(() => {
      isOver = true;
    });
    await until('the turn to end', async () => {
      if (!isOver) await clock.tick(stepMs);
      return isOver;
    });
    return { outcome: await running, asked: server.requests.slice(before) };
  }

  it('streams, calls tools and gives their results to the model', async () => {
    server.will(callsTools([{ name: 'current_time', arguments: { timezone: 'UTC' } }], { content: 'Let me look.' }), says('It is late.'));
    const tokens: string[] = [];
    const { outcome, asked } = await turn('a1', 0, (event) => void (event.type === 'token' && tokens.push(event.delta)));
    expect(outcome).to.include({ status: 'completed', reply: 'Let me look.\n\nIt is late.' });
    expect(tokens.join('')).to.equal(outcome.reply);
    expect(asked).to.have.length(2);
    expect(asked[0]?.body.tools[0].function.name).to.equal('current_time');
    const [call, result] = asked[1]?.body.messages.slice(-2) ?? [];
    expect(call.tool_calls[0].id).to.equal('call_1');
    expect(result).to.include({ role: 'tool', tool_call_id: 'call_1' });
    expect(result.content).to.include('2026');
  });

  it('gives back what a provider needs back while its tools run', async () => {
    const extra = { reasoning_content: 'They want the time.' };
    server.will(callsTools([{ name: 'current_time' }], { content: 'A moment.', extra }), says('Done.'));
    const { asked } = await turn('a1', 0);
    expect(asked[1]?.body.messages.at(-2)).to.include(extra);
  });

  const passing = {
    'status 503': status(503),
    'status 429': status(429),
    'status 408': status(408),
    'a connection that is hung up': hangsUp(),
    'a stream that is cut before the first word': cutsAfter(''),
    'a web page': page(),
    'an answer without end': says('', { finishReason: null }),
  };
  for (const [what, reply] of Object.entries(passing)) {
    it(`asks twice more after ${what}, and then answers`, async () => {
      server.will(reply, reply, says('There you are.'));
      const { outcome, asked } = await turn('a1', 50);
      expect(outcome.reply).to.equal('There you are.');
      expect(asked).to.have.length(3);
      expect(asked[2]?.body).to.deep.equal(asked[0]?.body);
    });

    it(`fails after ${what} three times, with a reason that is safe to show`, async () => {
      server.will(reply, reply, reply);
      const { outcome, asked } = await turn('a1', 50);
      expect(outcome.status).to.equal('failed');
      expect(outcome.error?.code).to.equal('ORYX_PROVIDER_FAILED');
      expect(outcome.error?.message).to.include('"scripted"');
      expect(asked).to.have.length(3);
    });
  }

  it('asks again after a server that stalled for 120 s', async () => {
    server.will(stalls(), says('Better.'));
    const { outcome, asked } = await turn('a1', 5_000);
    expect(outcome.reply).to.equal('Better.');
    expect(asked).to.have.length(2);
  });

  it('waits as long as the server asks, and not for longer than 30 s', async () => {
    server.will(status(429, {}, { 'retry-after': '20' }), says('ok'));
    const startedAt = clock.now();
    expect((await turn('a1', 100)).outcome.reply).to.equal('ok');
    expect(clock.now() - startedAt).to.be.at.least(20_000);
    server.will(status(429, {}, { 'retry-after': '31' }));
    const { outcome, asked } = await turn('a1', 50);
    expect([outcome.status, asked.length]).to.deep.equal(['failed', 1]);
  });

  for (const code of [400, 401, 403, 404, 422]) {
    it(`does not ask again after status ${code}`, async () => {
      server.will(status(code));
      const { outcome, asked } = await turn('a1', 50);
      expect([outcome.status, asked.length]).to.deep.equal(['failed', 1]);
    });
  }

  it('does not ask again once a word was sent', async () => {
    server.will(cutsAfter('Once upon '));
    const { outcome, asked } = await turn('a1', 50);
    expect(outcome).to.include({ status: 'failed', reply: 'Once upon ' });
    expect(asked).to.have.length(1);
  });

  it('does not ask the same provider again when the agent names others', async () => {
    server.will(status(503));
    expect((await turn('careful', 50)).asked).to.have.length(1);
  });

  it('never shows a key that the server echoes, in outcome, log or database', async () => {
    server.will(status(401, { error: `Incorrect API key provided: ${KEY}` }));
    const { outcome } = await turn('a1', 50);
    expect(outcome.error?.message).to.include('answered 401').and.not.include(KEY);
    const tables = await host.kernel.service('store').all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    for (const { name } of tables) expect(JSON.stringify(await host.rows(name)), name).to.not.include(KEY);
  });

  it('fails with a clear reason when the provider was deleted, and its agent stays', async () => {
    expect((await host.request('POST', '/api/v1/agents/lost/invoke', { content: 'hi' })).status).to.equal(200);
    await host.request('DELETE', '/api/v1/providers/later-gone');
    const answer = await host.request('POST', '/api/v1/agents/lost/invoke', { content: 'hi' });
    expect(answer.status).to.equal(503);
    expect(answer.message).to.include('later-gone');
  });

  it('runs on the built-in mock, which remembers when asked to', async () => {
    const outcome = await host.say('mocked', '记住 X');
    expect(outcome.messages.map(({ role }) => role)).to.deep.equal(['assistant', 'tool', 'assistant']);
    expect(outcome.reply).to.include('save_memory');
    expect((await host.say('mocked', 'hello')).reply)
      .to.include('"mocked"')
      .and.include('"hello"');
  });
});
