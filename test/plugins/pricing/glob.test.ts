import { expect } from 'chai';
import { isGlob, matchesGlob } from '../../../plugins/pricing/glob.ts';

describe('a glob', () => {
  const fits: readonly (readonly [string, string])[] = [
    ['*', ''],
    ['*', 'anything/at:all'],
    ['gpt-*', 'gpt-'],
    ['gpt-*', 'gpt-4o-mini'],
    ['*-mini', 'gpt-4o-mini'],
    ['gpt-?o*', 'gpt-4o'],
    ['a*b*c', 'aXbXbc'],
    ['qwen/**', 'qwen/72b'],
    ['a.c', 'a.c'],
  ];
  for (const [pattern, text] of fits) it(`"${pattern}" fits "${text}"`, () => expect(matchesGlob(pattern, text)).to.equal(true));

  const misses: readonly (readonly [string, string])[] = [
    ['', 'a'],
    ['gpt-?', 'gpt-'],
    ['gpt-*', 'my-gpt-4'],
    ['*-mini', 'gpt-4o-mini-2'],
    ['a.c', 'abc'],
    ['a*b*c', 'acb'],
    ['GPT-*', 'gpt-4'],
  ];
  for (const [pattern, text] of misses) it(`"${pattern}" does not fit "${text}"`, () => expect(matchesGlob(pattern, text)).to.equal(false));

  it('is a name as long as it has neither * nor ?', () => {
    expect(['gpt-4o', 'a[b]', 'x*', 'y?'].map(isGlob)).to.deep.equal([false, false, true, true]);
  });

  it('is decided quickly, whatever it is', () => {
    const since = performance.now();
    expect(matchesGlob(`${'a*'.repeat(60)}b`, 'a'.repeat(5_000))).to.equal(false);
    expect(performance.now() - since).to.be.below(500);
  });
});
