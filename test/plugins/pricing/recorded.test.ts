import { expect } from 'chai';
import { startHost } from '../../harness/index.ts';

describe('the cost in the record of model calls', function () {
  this.timeout(30_000);

  it('is that of the price at that moment, and sums are those of the rows', async () => {
    await using host = await startHost();
    const usage = { promptTokens: 1_000, completionTokens: 100, cachedTokens: 400 };
    const say = async (): Promise<void> => {
      host.model.will({ content: 'ok', usage });
      await host.say('default', 'hi');
    };
    await say();
    const price = { provider: 'scripted', model: 'test-*', promptPrice: 0.29, completionPrice: 1.1, cachedPrice: 0.05 };
    const { data } = await host.request('POST', '/api/v1/pricing', price);
    await say();
    await host.request('PUT', `/api/v1/pricing/${data.id}`, { cachedPrice: null });
    await say();
    await host.say('default', 'no usage');
    host.model.willFail({ status: 400 });
    await host.say('default', 'failure');

    const costs = (await host.rows('llm_calls')).map((row) => row['cost_micros']);
    expect(costs).to.deep.equal([null, 304, 400, null, null]);
    const summary = (await host.request('GET', '/api/v1/audit/llm/summary')).data;
    expect(summary.totalCostMicros).to.equal(704);
    for (const by of ['llm/by-model', 'llm/by-provider', 'by-agent']) {
      const groups = (await host.request('GET', `/api/v1/audit/${by}`)).data;
      expect(groups.map(({ totalCostMicros }: { totalCostMicros: number }) => totalCostMicros)).to.deep.equal([704]);
    }
  });

  it('is unknown, and runs go on, when the prices are left out', async () => {
    await using host = await startHost({ config: { 'oryxos.disable': ['pricing'] } });
    host.model.willCall('current_time');
    expect((await host.say('default', 'hi')).status).to.equal('failed');
    expect((await host.say('default', 'hi')).reply).to.equal('ok');
    for (const row of await host.rows('llm_calls')) expect(row['cost_micros']).to.equal(null);
  });
});
