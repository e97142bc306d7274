import { expect } from 'chai';
import { endpointUrl } from '../../../adapters/provider/urls.ts';

const CHAT = [
  ['https://api.x.com', 'https://api.x.com/v1/chat/completions'],
  ['https://api.x.com/', 'https://api.x.com/v1/chat/completions'],
  ['https://api.x.com/v1', 'https://api.x.com/v1/chat/completions'],
  ['https://api.x.com/v1/', 'https://api.x.com/v1/chat/completions'],
  ['https://api.x.com/v1/v1//', 'https://api.x.com/v1/chat/completions'],
  ['  https://api.x.com/v1 ', 'https://api.x.com/v1/chat/completions'],
  ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1/chat/completions'],
  ['https://open.bigmodel.cn/api/paas/v4', 'https://open.bigmodel.cn/api/paas/v4/chat/completions'],
  ['https://open.bigmodel.cn/api/paas/v4/', 'https://open.bigmodel.cn/api/paas/v4/chat/completions'],
  ['https://g.com/v1beta/openai', 'https://g.com/v1beta/openai/chat/completions'],
  ['https://g.com/v1beta/openai/', 'https://g.com/v1beta/openai/chat/completions'],
  ['https://gw.com/v1/account/gateway/openai', 'https://gw.com/v1/account/gateway/openai/chat/completions'],
  ['https://x.com/proxy/openai', 'https://x.com/proxy/openai/v1/chat/completions'],
  ['https://x.com/v12', 'https://x.com/v12/chat/completions'],
  ['https://x.com/vllm', 'https://x.com/vllm/v1/chat/completions'],
  ['https://x.com/v2ray-models', 'https://x.com/v2ray-models/v1/chat/completions'],
  ['http://v1', 'http://v1/v1/chat/completions'],
  ['https://x.com/openai/chat/completions', 'https://x.com/openai/chat/completions'],
  ['https://x.com/v1/chat/completions/', 'https://x.com/v1/chat/completions'],
  ['https://x.com/v1?api-version=2#top', 'https://x.com/v1/chat/completions?api-version=2'],
] as const;

describe('the URL of an endpoint', () => {
  for (const [base, expected] of CHAT) {
    it(`of "${base}" is ${expected}`, () => expect(endpointUrl(base, 'chat/completions')).to.equal(expected));
  }

  it('follows the same rule for models and embeddings', () => {
    expect(endpointUrl('https://x.com', 'models')).to.equal('https://x.com/v1/models');
    expect(endpointUrl('https://x.com/api/paas/v4', 'embeddings')).to.equal('https://x.com/api/paas/v4/embeddings');
    expect(endpointUrl('https://x.com/v1/chat/completions', 'models')).to.equal('https://x.com/v1/models');
    expect(endpointUrl('https://x.com/openai/chat/completions', 'models')).to.equal('https://x.com/openai/models');
  });

  it('throws for what is no URL', () => expect(() => endpointUrl('nowhere', 'models')).to.throw(TypeError));
});
