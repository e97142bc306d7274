import { expect } from 'chai';
import * as fc from 'fast-check';
import { ClippedOutput } from '../../../plugins/outside/clipped-output.ts';

const KIB = 1024;
const collected = (chunks: readonly Buffer[]): ClippedOutput => {
  const output = new ClippedOutput();
  for (const chunk of chunks) output.add(chunk);
  return output;
};
const pieces = (bytes: Buffer, size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));

describe('the output of a program', () => {
  it('is kept whole up to 64 KiB, characters that arrive in parts included', () => {
    const text = 'ä值🙂'.repeat(7_000);
    for (const size of [1, 7, 4096, 100_000])
      expect(collected(pieces(Buffer.from(text), size)).text() === text, String(size)).to.equal(true);
    expect(collected([]).text()).to.equal('');
  });

  it('keeps beginning and end when it is longer, says how much is missing, and never shows half a character', () => {
    const text = `first ${'值'.repeat(50_000)} last`;
    for (const size of [1000, 65_536, 1_000_000]) {
      const output = collected(pieces(Buffer.from(text), size));
      const clipped = output.text();
      expect(output.total).to.equal(Buffer.byteLength(text));
      expect(clipped).to.match(/^first 值+\n\[\d+ bytes are left out here\]\n值+ last$/);
      expect(Buffer.byteLength(clipped)).to.be.within(63 * KIB, 65 * KIB);
    }
  });

  it('is the same however it was cut into pieces', () => {
    const bytes = Buffer.from(Array.from({ length: 120 * KIB }, (_, index) => 97 + ((index * 7) % 26)));
    const whole = collected([bytes]).text();
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 90_000 }), (size) => collected(pieces(bytes, size)).text() === whole),
      { numRuns: 30 },
    );
  });
});
