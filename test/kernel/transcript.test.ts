import { expect } from 'chai';
import fc from 'fast-check';
import type { Message, ToolCallRequest } from '../../kernel/index.ts';
import { MAX_RESULT_CHARS, repaired } from '../../kernel/transcript.ts';

const call = (id: string): ToolCallRequest => ({ id, name: 'echo', argumentsJson: '{}' });
const user = (content: string): Message => ({ role: 'user', content });
const asks = (...ids: string[]): Message => ({ role: 'assistant', content: '', toolCalls: ids.map(call) });
const result = (toolCallId: string, content = 'done'): Message => ({ role: 'tool', toolName: 'echo', toolCallId, content });

describe('transcript', () => {
  it('leaves a well-formed conversation as it is', () => {
    const messages = [user('hi'), asks('a', 'b'), result('a'), result('b'), user('more')];
    expect(repaired(messages, false)).to.deep.equal(messages);
  });

  it('answers a call whose result is missing and drops a result without a call', () => {
    const sent = repaired([result('x'), user('hi'), asks('a', 'b'), result('b'), user('next')], false);
    expect(sent.map((message) => message.role)).to.deep.equal(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(sent[2]).to.include({ toolCallId: 'a' });
    expect((sent[2] as { content: string }).content).to.match(/not executed/);
  });

  it('is valid wherever a conversation is cut', () => {
    const messages = [
      user('1'),
      asks('a', 'b'),
      result('a'),
      result('b'),
      asks('c'),
      result('c'),
      user('2'),
      asks('d'),
      result('d'),
      user('3'),
    ];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: messages.length }), fc.integer({ min: 0, max: messages.length }), (from, to) => {
        const sent = repaired(messages.slice(from, to), false);
        let open: string[] = [];
        for (const message of sent) {
          if (message.role === 'tool') expect(open.shift()).to.equal(message.toolCallId);
          else expect(open).to.deep.equal([]);
          if (message.role === 'assistant') open = message.toolCalls.map(({ id }) => id);
        }
        expect(open).to.deep.equal([]);
      }),
    );
  });

  it('keeps head and tail of a long result and says how to read the rest', () => {
    const long = `HEAD${'x'.repeat(MAX_RESULT_CHARS * 2)}TAIL`;
    const [, , cut] = repaired([user('hi'), asks('a'), result('a', long)], true);
    const { content } = cut as { content: string };
    expect(content.length).to.be.lessThan(MAX_RESULT_CHARS + 200);
    expect(content.startsWith('HEAD')).to.equal(true);
    expect(content.endsWith('TAIL')).to.equal(true);
    expect(content).to.include('read_result with id "a"');
  });

  it('never splits a surrogate pair when it cuts', () => {
    const [, , cut] = repaired([user('hi'), asks('a'), result('a', '\u{1F600}'.repeat(MAX_RESULT_CHARS))], false);
    const { content } = cut as { content: string };
    expect(/[\ud800-\udbff](?![\udc00-\udfff])/.test(content)).to.equal(false);
  });
});
