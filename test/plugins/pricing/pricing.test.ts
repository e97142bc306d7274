import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Usage } from '../../../kernel/index.ts';
import { startHost, type TestHost } from '../../harness/index.ts';

const PATH = '/api/v1/pricing';
const million: Usage = {
  promptTokens: 1_000_000,
  completionTokens: 0,
  totalTokens: 1_000_000,
  cachedTokens: null,
  reasoningTokens: null,
};

describe('prices', function () {
  this.timeout(30_000);
  let host: TestHost;
  before(async () => {
    host = await startHost();
  });
  after(() => host.stop());
  afterEach(async () => {
    for (const { id } of (await host.request('GET', PATH)).data) await host.request('DELETE', `${PATH}/${id}`);
  });

  const add = (model: string, promptPrice: number, provider = 'deepseek') =>
    host.request('POST', PATH, { provider, model, promptPrice, completionPrice: 1 });
  const cost = (model: string, provider = 'deepseek', usage: Usage | undefined = million): number | null =>
    host.kernel.service('pricing').costMicros(provider, model, usage);

  it('are added, shown by provider and model, changed and deleted', async () => {
    const added = await host.request('POST', PATH, {
      provider: ' b ',
      model: ' m ',
      promptPrice: 1.5,
      completionPrice: 2,
      cachedPrice: 0.25,
    });
    expect(added.status).to.equal(200);
    const { id } = added.data;
    expect(added.data).to.deep.equal({ id, provider: 'b', model: 'm', promptPrice: 1.5, completionPrice: 2, cachedPrice: 0.25 });
    await add('z', 1, 'a');
    await add('y', 1, 'a');
    const models = (await host.request('GET', PATH)).data.map(
      ({ provider, model }: { provider: string; model: string }) => `${provider}/${model}`,
    );
    expect(models).to.deep.equal(['a/y', 'a/z', 'b/m']);
    expect((await host.request('GET', `${PATH}?provider=b`)).data).to.have.length(1);
    expect((await host.request('GET', `${PATH}?provider=none`)).data).to.deep.equal([]);

    const changed = await host.request('PUT', `${PATH}/${id}`, { promptPrice: 3, cachedPrice: null });
    expect(changed.data).to.deep.equal({ id, provider: 'b', model: 'm', promptPrice: 3, completionPrice: 2, cachedPrice: null });
    expect(cost('m', 'b')).to.equal(3_000_000);
    expect((await host.request('DELETE', `${PATH}/${id}`)).status).to.equal(200);
    expect(cost('m', 'b')).to.equal(null);
  });

  it('are 404 when there is none, and 400 when there is one already', async () => {
    expect((await host.request('PUT', `${PATH}/9999`, { promptPrice: 1 })).status).to.equal(404);
    expect((await host.request('DELETE', `${PATH}/9999`)).status).to.equal(404);
    const first = await add('m', 1);
    const twice = await add('m', 2);
    expect(twice.status).to.equal(400);
    expect(twice.message).to.include('deepseek/m');
    const other = await add('n', 2);
    const moved = await host.request('PUT', `${PATH}/${other.data.id}`, { model: 'm' });
    expect(moved.status).to.equal(400);
    expect((await host.request('PUT', `${PATH}/${first.data.id}`, { model: 'm', promptPrice: 5 })).status).to.equal(200);
  });

  const wrong: Readonly<Record<string, object>> = {
    'a blank provider': { provider: ' ' },
    'a blank model': { model: '' },
    'a negative price': { promptPrice: -1 },
    'a price beyond all measure': { completionPrice: 1e7 },
    'a price with seven decimal places': { cachedPrice: 0.000_000_1 },
    'a price that is no number': { promptPrice: 'free' },
    'a missing price': { completionPrice: undefined },
  };
  for (const [what, fields] of Object.entries(wrong)) {
    it(`are refused with ${what}, naming the field`, async () => {
      const answer = await host.request('POST', PATH, { provider: 'p', model: 'm', promptPrice: 1, completionPrice: 1, ...fields });
      expect(answer.status).to.equal(400);
      expect(answer.message).to.include(Object.keys(fields)[0]);
      expect((await host.request('GET', PATH)).data).to.deep.equal([]);
    });
  }

  it('of the exact name go before globs, and a longer glob before a shorter one', async () => {
    await add('*', 1);
    expect(cost('deepseek-chat')).to.equal(1_000_000);
    await add('deepseek-*', 2);
    expect(cost('deepseek-chat')).to.equal(2_000_000);
    await add('deepseek-chat', 3);
    await add('deepseek-c????', 4);
    expect(cost('deepseek-chat')).to.equal(3_000_000);
    expect(cost('deepseek-coder')).to.equal(4_000_000);
    expect(cost('deepseek-coders')).to.equal(2_000_000);
    expect(cost('other')).to.equal(1_000_000);
    expect(cost('deepseek-chat', 'qwen')).to.equal(null);
  });

  it('give no cost without usage', async () => {
    await add('m', 1);
    expect(host.kernel.service('pricing').costMicros('deepseek', 'm', undefined)).to.equal(null);
    expect(cost('m', 'deepseek', { ...million, promptTokens: null })).to.equal(null);
  });

  it('that two clients change at once end as one of them, and nobody is told otherwise', async () => {
    const { id } = (await add('m', 1)).data;
    const answers = await Promise.all([2, 3].map((promptPrice) => host.request('PUT', `${PATH}/${id}`, { promptPrice })));
    const won = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).to.equal(true);
    const [shown] = (await host.request('GET', PATH)).data;
    expect(won.map(({ data }) => data.promptPrice)).to.include(shown.promptPrice);
    expect((await host.rows('llm_pricing'))[0]?.['prompt_price']).to.equal(shown.promptPrice);
  });
});

describe('prices of the configuration', function () {
  this.timeout(30_000);
  const pricing = [
    { provider: 'a', model: 'kept', 'prompt-price': 1, 'completion-price': 2, 'cached-price': 0.5 },
    { provider: 'a', model: 'changed', 'prompt-price': 1, 'completion-price': 2 },
    { provider: 'a', model: 'deleted', 'prompt-price': 1, 'completion-price': 2 },
    { provider: 'a', model: 'negative', 'prompt-price': -1, 'completion-price': 2 },
  ];

  it('are taken over once: what was changed or deleted stays so', async () => {
    const home = await mkdtemp(join(tmpdir(), 'oryxos-pricing-'));
    const text = JSON.stringify({ oryxos: { pricing } });
    const models = async (host: TestHost): Promise<Record<string, number>> => {
      const { data } = await host.request('GET', PATH);
      return Object.fromEntries(data.map(({ model, promptPrice }: { model: string; promptPrice: number }) => [model, promptPrice]));
    };
    const idOf = async (host: TestHost, wanted: string): Promise<number> =>
      (await host.request('GET', PATH)).data.find(({ model }: { model: string }) => model === wanted).id;
    try {
      const host = await startHost({ home, files: { 'application.yml': text } });
      expect(await models(host)).to.deep.equal({ kept: 1, changed: 1, deleted: 1 });
      await host.request('PUT', `${PATH}/${await idOf(host, 'changed')}`, { promptPrice: 9 });
      await host.request('DELETE', `${PATH}/${await idOf(host, 'deleted')}`);
      await host.stop();
      await using again = await startHost({ home });
      expect(await models(again)).to.deep.equal({ kept: 1, changed: 9 });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
