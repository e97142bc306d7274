import { expect } from 'chai';
import { agentFile } from '../../harness/index.ts';
import { callsTools, cutsAfter, says, status } from '../../harness/model-server.ts';
import { type Chain, chained, startChain } from './chain.ts';

describe('an agent that names other models', function () {
  this.timeout(30_000);
  let chain: Chain;
  before(async () => {
    chain = await startChain({
      agents: {
        a: chained('a', ['p1', 'p2', 'p3'], 'tools: [current_time]'),
        alone: agentFile('alone').replace('scripted', 'p1'),
        twice: chained('twice', ['p1', 'p1', 'p2', 'p1', 'p2/other']),
        warm: chained('warm', ['p1', 'p2']).replace('name: p1', 'temperature: 0.5, name: p1'),
        missing: chained('missing', ['p1', 'never', 'p2']),
        useless: chained('useless', ['p1', 'never']),
        orphan: chained('orphan', ['gone', 'p2']),
      },
    });
    await chain.host.request('DELETE', '/api/v1/providers/gone');
  });
  after(() => chain[Symbol.asyncDispose]());

  const warnings = (message: string) => chain.lines.filter((line) => line.level === 'warn' && line.message === message);

  for (const code of [400, 404, 413, 422]) {
    it(`asks nobody else after status ${code}`, async () => {
      chain.answering(status(code));
      const outcome = await chain.host.say('a', 'hi');
      expect(outcome.status).to.equal('failed');
      expect(outcome.error?.message).to.include(`"p1" answered ${code}`);
      expect(chain.asked()).to.deep.equal([1, 0, 0]);
    });
  }

  it('asks nobody else once a word was sent', async () => {
    chain.answering(cutsAfter('Once upon '));
    const outcome = await chain.host.say('a', 'hi');
    expect(outcome).to.include({ status: 'failed', reply: 'Once upon ' });
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  });

  it('sends the same request to the next one, and starts every model call at the first', async () => {
    chain.answering(status(503));
    chain.servers[1]?.will(callsTools([{ name: 'current_time' }]), says('It is late.'));
    const outcome = await chain.host.say('a', 'what time is it?');
    expect(outcome.reply).to.equal('It is late.');
    expect(chain.asked()).to.deep.equal([2, 2, 0]);
    const [first, second] = chain.servers.map(({ requests }) => requests.slice(-2).map(({ body }) => body));
    expect(second).to.deep.equal(first);
    expect(await chain.attempts(outcome.turnId)).to.deep.equal(['p1 failed', 'p2 success', 'p1 failed', 'p2 success']);
  });

  it('asks each pair of provider and model once', async () => {
    chain.answering(status(503), status(503));
    const outcome = await chain.host.say('twice', 'hi');
    expect(outcome.status).to.equal('failed');
    expect(chain.asked()).to.deep.equal([1, 2, 0]);
    expect(chain.servers[1]?.requests.slice(-2).map(({ body }) => body.model)).to.deep.equal(['m', 'other']);
  });

  it('asks the next one at the temperature of the agent', async () => {
    chain.answering(status(503));
    await chain.host.say('warm', 'hi');
    expect(chain.servers[1]?.requests.at(-1)?.body.temperature).to.equal(0.5);
  });

  it('counts a candidate whose provider does not exist as one that failed, with its row', async () => {
    chain.answering(status(503));
    const outcome = await chain.host.say('missing', 'hi');
    expect(outcome.reply).to.equal('answer of p2');
    expect(await chain.attempts(outcome.turnId)).to.deep.equal(['p1 failed', 'never failed', 'p2 success']);
    expect(chain.asked()).to.deep.equal([1, 1, 0]);
  });

  it('fails with the failure of the last one, also when that does not exist', async () => {
    chain.answering(status(503));
    const outcome = await chain.host.say('useless', 'hi');
    expect(outcome.error?.message).to.include('provider "never" does not exist');
    expect(await chain.attempts(outcome.turnId)).to.deep.equal(['p1 failed', 'never failed']);
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  });

  it('tells in the trace of the run why each model was asked', async () => {
    chain.answering(status(503));
    const { turnId } = await chain.host.say('missing', 'hi');
    const { data } = await chain.host.request('GET', `/api/v1/audit/trace/${turnId}`);
    const steps = data.steps as readonly { readonly provider: string; readonly success: boolean; readonly reason: string | null }[];
    expect(steps.map(({ provider, success }) => [provider, success])).to.deep.equal([
      ['p1', false],
      ['never', false],
      ['p2', true],
    ]);
    expect(steps[0]?.reason).to.equal(null);
    expect(steps[1]?.reason).to.match(/^Provider "p1" answered 503/);
    expect(steps[2]?.reason).to.match(/^provider "never" does not exist/);
  });

  it('switches when its own provider was deleted, and the attempt is recorded', async () => {
    chain.answering();
    const outcome = await chain.host.say('orphan', 'hi');
    expect(outcome.reply).to.equal('answer of p2');
    expect(await chain.attempts(outcome.turnId)).to.deep.equal(['gone failed', 'p2 success']);
  });

  it('logs a switch as a warning with both models and the run', async () => {
    chain.answering(status(429));
    const outcome = await chain.host.say('a', 'hi');
    const line = warnings('switching to a fallback model').find(({ traceId }) => traceId === outcome.turnId);
    expect(line?.fields).to.include({ from: 'p1/m', to: 'p2/m' });
    expect(line?.fields['reason']).to.include('answered 429');
  });

  it('changes nothing for an agent that names none', async () => {
    chain.answering(status(401));
    expect((await chain.host.say('alone', 'hi')).status).to.equal('failed');
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  });
});
