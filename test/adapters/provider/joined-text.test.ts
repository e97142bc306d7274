import { expect } from 'chai';
import fc from 'fast-check';
import { joinedText } from '../../../adapters/provider/joined-text.ts';

describe('a text from its pieces', () => {
  it('is what they are one after another, whatever is in them, short or long', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ unit: 'binary-ascii', maxLength: 20 }),
      fc.constantFrom('\ud83d', '\ude00', '\u00ff', '\u0100', '\0', '\u2028', '你好', 'é'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, isLong) => {
        const all = isLong ? [...pieces, 'x'.repeat(600_000), ...pieces, 'y'.repeat(600_000), ...pieces] : pieces;
        expect(joinedText(all) === all.join('')).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
