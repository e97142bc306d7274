import { expect } from 'chai';
import * as fc from 'fast-check';
import { EventSplitter } from '../../../adapters/provider/event-splitter.ts';

function split(pieces: readonly string[]): readonly string[] {
  const splitter = new EventSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe('the event splitter', () => {
  it('gives the data of each event', () => expect(split(['data: a\n\ndata:b\n\n'])).to.deep.equal(['a', 'b']));

  it('skips comments and other fields', () => expect(split([': ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n'])).to.deep.equal(['a']));

  it('joins the data lines of one event', () => expect(split(['data: {"a":\ndata: 1}\n\n'])).to.deep.equal(['{"a":\n1}']));

  it('reads CRLF lines', () => expect(split(['data: a\r\n\r\ndata: b\r\n\r\n'])).to.deep.equal(['a', 'b']));

  it('gives an event that the end of the stream completes', () => expect(split(['data: a\n\ndata: b'])).to.deep.equal(['a', 'b']));

  it('gives nothing for nothing', () => expect(split([])).to.deep.equal([]));

  it('gives the same events wherever the stream is cut', () => {
    const line = fc.constantFrom('data: {"x":1}', 'data: ü😀', ': c', 'event: e', '');
    const newline = fc.constantFrom('\n', '\r\n');
    const stream = fc.array(fc.tuple(line, newline)).map((lines) => lines.map((parts) => parts.join('')).join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200)), (text, cuts) => {
        const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort((a, b) => a - b);
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(split(pieces)).to.deep.equal(split([text]));
      }),
    );
  });

  it('takes a long line in small pieces in linear time', () => {
    const splitter = new EventSplitter();
    for (let count = 0; count < 50_000; count += 1) splitter.push('x'.repeat(100));
    expect(splitter.push('\n\n')).to.deep.equal([]);
  });
});
