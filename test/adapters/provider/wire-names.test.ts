import { expect } from 'chai';
import * as fc from 'fast-check';
import { wireName } from '../../../adapters/provider/wire-names.ts';

describe('the name of a tool on the wire', () => {
  for (const name of ['read_file', 'a', 'x-y_Z9', 'n'.repeat(64)]) {
    it(`is "${name}" itself where servers accept it`, () => expect(wireName(name)).to.equal(name));
  }

  for (const name of ['weather.get', 'a/b', 'm:tool', '天气', 'n'.repeat(65), '']) {
    it(`of "${name}" is one that servers accept`, () => expect(wireName(name)).to.match(/^[A-Za-z0-9_-]{1,64}$/));
  }

  it('keeps names apart that differ in refused characters or beyond the cut only', () => {
    const names = ['a.b', 'a/b', 'a_b', 'a:b', `${'n'.repeat(64)}1`, `${'n'.repeat(64)}2`];
    expect(new Set(names.map(wireName)).size).to.equal(names.length);
  });

  it('is never the name of another tool, not even of one that looks encoded', () => {
    const encoded = wireName('a.b');
    expect(wireName(encoded)).to.not.equal(encoded);
  });

  it('depends on the name alone and is accepted for every name', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(wireName(name))
          .to.equal(wireName(name))
          .and.to.match(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });
});
