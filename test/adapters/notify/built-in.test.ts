import { expect } from 'chai';
import { startHost } from '../../harness/index.ts';

const TYPES = ['feishu', 'wecom', 'dingtalk', 'webhook'];

describe('built-in notify adapters', function () {
  this.timeout(20_000);

  it('are plugins of their own, each of which can be left out', async () => {
    await using host = await startHost({ files: { 'application.yml': 'oryxos: {disable: [wecom]}' } });
    const registered = host.kernel.registry('notifyAdapter');
    expect(TYPES.filter((type) => registered.get(type) !== undefined)).to.deep.equal(['feishu', 'dingtalk', 'webhook']);
    const { data } = await host.request('GET', '/api/v1/plugins');
    const views = data as readonly { readonly name: string; readonly source: string; readonly effects: readonly string[] }[];
    for (const type of TYPES.filter((name) => name !== 'wecom')) {
      const view = views.find(({ name }) => name === type);
      expect(view?.source).to.equal('builtin');
      expect(view?.effects).to.include(`notifyAdapter ${type}`);
    }
    expect(views.map(({ name }) => name)).to.not.include('wecom');
  });
});
