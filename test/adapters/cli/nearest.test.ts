import { expect } from 'chai';
import { nearest } from '../../../adapters/cli/nearest.ts';

describe('the guess at a mistyped word', () => {
  const words = ['profile', 'provider', 'serve', 'session', 'chat'];

  it('finds a word with a letter missing, added, replaced, or two swapped', () => {
    expect(nearest('profle', words)).to.equal('profile');
    expect(nearest('serrve', words)).to.equal('serve');
    expect(nearest('provuder', words)).to.equal('provider');
    expect(nearest('hcat', words)).to.equal('chat');
  });

  it('prefers the fewest edits', () => {
    expect(nearest('provide', words)).to.equal('provider');
  });

  it('guesses nothing when no word is close', () => {
    expect(nearest('banana', words)).to.equal(undefined);
    expect(nearest('x', ['y'])).to.equal(undefined);
  });
});
