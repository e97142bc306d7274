import { expect } from 'chai';
import { mockAdapter } from '../../../adapters/provider/mock.ts';
import type { LlmReply, LlmRequest, Message, OutgoingHttp, ToolSchema } from '../../../kernel/index.ts';
import { providerContract } from '../../contract/provider.ts';
import { ask } from './outgoing.ts';

const noHttp: OutgoingHttp = { request: () => Promise.reject(new Error('the mock must not use the network')) };
const provider = () =>
  mockAdapter.connect({ name: 'mock', apiKey: undefined, baseUrl: undefined, connectTimeoutMs: 1, readTimeoutMs: 1 }, noHttp);
const saveMemory: ToolSchema = {
  name: 'save_memory',
  description: 'Save',
  parameters: { type: 'object', properties: { content: { type: 'string' }, scope: { type: 'string' } } },
};

async function reply(request: LlmRequest, onDelta: (text: string) => void = () => {}): Promise<LlmReply> {
  const result = await provider().chat(request, onDelta, new AbortController().signal);
  if (!result.ok) throw new Error(result.failure.message);
  return result.reply;
}

providerContract('mock', async () => ({
  provider: provider(),
  talk: ask('hello'),
  call: ask('please remember this', { tools: [saveMemory] }),
  close: async () => {},
}));

describe('the mock model', () => {
  it('names the agent and quotes the question, word by word', async () => {
    const deltas: string[] = [];
    const { content } = await reply(ask('how are  you?', { agent: 'helper' }), (text) => deltas.push(text));
    expect(content).to.include('"helper"').and.include('"how are you?"');
    expect(deltas.length).to.be.greaterThan(5);
    for (const word of deltas) expect(word.trim()).to.not.match(/\s/);
  });

  it('gives the same answer to the same request', async () => {
    const request = ask('remember X', { tools: [saveMemory] });
    expect(await reply(request)).to.deep.equal(await reply(request));
  });

  for (const text of ['Please REMEMBER: tea', '记住 X']) {
    it(`saves the whole text of "${text}"`, async () => {
      const { content, toolCalls } = await reply(ask(text, { tools: [saveMemory] }));
      expect(content).to.equal('');
      expect(toolCalls).to.have.length(1);
      expect(JSON.parse(toolCalls[0]?.argumentsJson ?? '')).to.deep.equal({ content: text, scope: 'archival' });
    });
  }

  it('calls nothing that is not offered, and nothing unasked', async () => {
    expect((await reply(ask('remember X'))).toolCalls).to.deep.equal([]);
    expect((await reply(ask('hello', { tools: [saveMemory] }))).toolCalls).to.deep.equal([]);
    expect((await reply(ask('a remembering mind', { tools: [saveMemory] }))).toolCalls).to.deep.equal([]);
  });

  it('leaves out the scope when the tool has none', async () => {
    const { toolCalls } = await reply(
      ask('remember X', { tools: [{ ...saveMemory, parameters: { type: 'object', properties: { content: {} } } }] }),
    );
    expect(JSON.parse(toolCalls[0]?.argumentsJson ?? '')).to.deep.equal({ content: 'remember X' });
  });

  it('reports what tools answered and does not call again', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'remember X' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'save_memory', argumentsJson: '{}' }] },
      { role: 'tool', toolName: 'save_memory', toolCallId: 'c', content: 'Saved to archival memory' },
    ];
    const { content, toolCalls } = await reply(ask('', { messages, tools: [saveMemory] }));
    expect(content).to.include('save_memory').and.include('Saved to archival memory');
    expect(toolCalls).to.deep.equal([]);
  });

  it('reports no token count: none was counted', async () => {
    expect(Object.values((await reply(ask('hi'))).usage)).to.deep.equal([null, null, null, null, null]);
  });

  it('stops between words when it is aborted', async () => {
    const controller = new AbortController();
    const deltas: string[] = [];
    const result = await provider().chat(
      ask('hello'),
      (text) => {
        deltas.push(text);
        controller.abort();
      },
      controller.signal,
    );
    expect(result.ok).to.equal(false);
    expect(deltas).to.have.length(1);
  });
});
