/** What every provider promises; run by the test of each adapter. */
import { expect } from 'chai';
import type { LlmReply, LlmRequest, Provider } from '../../kernel/index.ts';

/** A provider under test, and requests that make it do what the suite looks at. */
export interface ProviderSubject {
  readonly provider: Pick<Provider, 'chat' | 'models'>;
  /** Is answered with a text of several words. */
  readonly talk: LlmRequest;
  /** Is answered with a call of the only tool that is offered. */
  readonly call: LlmRequest;
  close(): Promise<void>;
}

const never = (): AbortSignal => new AbortController().signal;

/** @param open  a fresh subject for each test; the suite closes it */
export function providerContract(adapter: string, open: () => Promise<ProviderSubject>): void {
  describe(`the ${adapter} provider keeps the contract`, function () {
    this.timeout(20_000);
    let subject: ProviderSubject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    async function reply(request: LlmRequest, onDelta: (text: string) => void = () => {}): Promise<LlmReply> {
      const result = await subject.provider.chat(request, onDelta, never());
      if (!result.ok) throw new Error(result.failure.message);
      return result.reply;
    }

    it('streams deltas that add up to the content', async () => {
      const deltas: string[] = [];
      const { content, toolCalls } = await reply(subject.talk, (text) => deltas.push(text));
      expect(content).to.not.equal('');
      expect(deltas.join('')).to.equal(content);
      expect(deltas).to.not.include('');
      expect(toolCalls).to.deep.equal([]);
    });

    it('says why it stopped', async () => {
      expect((await reply(subject.talk)).finishReason).to.not.equal('');
      expect((await reply(subject.call)).finishReason).to.not.equal('');
    });

    it('calls a tool by the name under which it was offered, with JSON arguments', async () => {
      const { toolCalls } = await reply(subject.call);
      expect(toolCalls.map((call) => call.name)).to.deep.equal([subject.call.tools[0]?.name]);
      expect(JSON.parse(toolCalls[0]?.argumentsJson ?? '')).to.be.an('object');
      expect(toolCalls[0]?.id).to.not.equal('');
    });

    it('reports each token count as a number or as null', async () => {
      const { usage } = await reply(subject.talk);
      expect(Object.keys(usage).sort()).to.deep.equal([
        'cachedTokens',
        'completionTokens',
        'promptTokens',
        'reasoningTokens',
        'totalTokens',
      ]);
      for (const count of Object.values(usage)) expect(count === null || Number.isInteger(count)).to.equal(true);
    });

    it('answers an aborted request with a value of kind aborted', async () => {
      const controller = new AbortController();
      controller.abort();
      const result = await subject.provider.chat(subject.talk, () => {}, controller.signal);
      expect(result).to.have.property('ok', false);
      expect(result).to.have.nested.property('failure.kind', 'aborted');
      expect(result).to.have.nested.property('failure.retryable', false);
    });

    it('lists its models sorted', async () => {
      const result = await subject.provider.models(never());
      if (!result.ok) throw new Error(result.failure.message);
      expect(result.models).to.deep.equal([...result.models].sort());
      expect(result.models).to.have.length.above(0);
    });

    it('answers requests side by side without mixing them', async () => {
      const texts = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const deltas: string[] = [];
          const { content } = await reply(subject.talk, (text) => deltas.push(text));
          return { content, streamed: deltas.join('') };
        }),
      );
      for (const { content, streamed } of texts) expect(streamed).to.equal(content);
    });
  });
}
