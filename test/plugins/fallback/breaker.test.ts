import { expect } from 'chai';
import { says, status } from '../../harness/model-server.ts';
import { type Chain, chained, startChain } from './chain.ts';

describe('the breaker of models', function () {
  this.timeout(30_000);
  let chain: Chain;
  const agents = {
    a: chained('a', ['p1', 'p2', 'p3']),
    short: chained('short', ['p1', 'p2']),
    widow: chained('widow', ['p1', 'never']),
    alone: chained('alone', ['p1']),
    other: chained('other', ['p1/other', 'p2', 'p3']),
  };
  beforeEach(async () => {
    chain = await startChain({ agents, config: { 'oryxos.fallback.breaker': true } });
  });
  afterEach(() => chain[Symbol.asyncDispose]());

  const say = (agent: string) => chain.host.say(agent, 'hi');
  const failThreeTimes = async (): Promise<void> => {
    for (let time = 0; time < 3; time += 1) await say('a');
    chain.asked();
  };

  it('passes over models that failed three times in a row, the first too, and the record says why', async () => {
    chain.answering(status(503), status(503));
    await failThreeTimes();
    const outcome = await say('a');
    expect(outcome.reply).to.equal('answer of p3');
    expect(chain.asked()).to.deep.equal([0, 0, 1]);
    expect(await chain.attempts(outcome.turnId)).to.deep.equal(['p1 failed', 'p2 failed', 'p3 success']);
    const { data } = await chain.host.request('GET', `/api/v1/audit/trace/${outcome.turnId}`);
    expect(data.steps[0].errorMessage).to.equal('Provider "p1" was not asked: model m failed 3 times in a row and is left alone for 30 s');
  });

  it('lets one attempt through after 30 s, and forgets everything when it succeeds', async () => {
    chain.answering(status(503));
    await failThreeTimes();
    await chain.clock.tick(29_999);
    await say('a');
    expect(chain.asked()).to.deep.equal([0, 1, 0]);
    await chain.clock.tick(1);
    await Promise.all([say('a'), say('a')]);
    expect(chain.asked()).to.deep.equal([1, 2, 0]);
    await say('a');
    expect(chain.asked()).to.deep.equal([0, 1, 0]);
    await chain.clock.tick(30_000);
    chain.answering(says('back'));
    expect((await say('a')).reply).to.equal('back');
    chain.answering(status(503));
    await say('a');
    expect(chain.asked()).to.deep.equal([1, 1, 0]);
  });

  it('waits as long as the provider asked for', async () => {
    chain.answering(status(429, {}, { 'retry-after': '5' }));
    await failThreeTimes();
    await chain.clock.tick(4_999);
    await say('a');
    expect(chain.asked()).to.deep.equal([0, 1, 0]);
    await chain.clock.tick(1);
    await say('a');
    expect(chain.asked()).to.deep.equal([1, 1, 0]);
  });

  it('asks the last candidate that there is in any case', async () => {
    chain.answering(status(503), status(503));
    await failThreeTimes();
    expect((await say('short')).error?.message).to.include('"p2" answered 503');
    expect(chain.asked()).to.deep.equal([0, 1, 0]);
    await say('widow');
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  });

  it('does not judge another model of the provider, nor agents that name no other', async () => {
    chain.answering(status(503));
    await failThreeTimes();
    await say('other');
    expect(chain.asked()).to.deep.equal([1, 1, 0]);
    chain.answering(status(401));
    await say('alone');
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  });

  it('does not count failures that are the fault of the request', async () => {
    chain.answering(status(400));
    for (let time = 0; time < 5; time += 1) await say('a');
    expect(chain.asked()).to.deep.equal([5, 0, 0]);
  });

  it('is out of use unless it is switched on', async () => {
    await using plain = await startChain({ agents });
    plain.answering(status(503), status(503));
    for (let time = 0; time < 5; time += 1) await plain.host.say('a', 'hi');
    expect(plain.asked()).to.deep.equal([5, 5, 5]);
  });
});
