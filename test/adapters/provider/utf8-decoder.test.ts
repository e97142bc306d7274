import { expect } from 'chai';
import fc from 'fast-check';
import { Utf8Decoder } from '../../../adapters/provider/utf8-decoder.ts';

function decoded(bytes: Uint8Array, cuts: readonly number[]): string {
  const decoder = new Utf8Decoder();
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  const pieces = places.slice(1).map((end, index) => decoder.push(bytes.subarray(places[index], end)));
  return pieces.join('') + decoder.end();
}

describe('the UTF-8 decoder', () => {
  it('gives the same text wherever the bytes were cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(200)), (text, cuts) => {
        const whole = text.replace(/^\ufeff/, '');
        expect(decoded(Buffer.from(text), cuts)).to.equal(whole);
      }),
    );
  });

  it('drops a byte order mark at the start only, also one that comes byte by byte', () => {
    const bytes = Buffer.from('\ufeffa\ufeffb');
    expect(decoded(bytes, [1, 2, 3])).to.equal('a\ufeffb');
  });

  it('puts U+FFFD in the place of bytes that are no UTF-8', () => {
    expect(decoded(Buffer.from([0x61, 0xff, 0x62]), [])).to.equal('a\ufffdb');
    expect(decoded(Buffer.from([0x61, 0xe4, 0xb8]), [2])).to.equal('a\ufffd');
  });
});
