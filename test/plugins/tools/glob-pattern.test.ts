import { expect } from 'chai';
import * as fc from 'fast-check';
import { GlobProblem, globPattern } from '../../../plugins/tools/glob-pattern.ts';

describe('glob patterns', () => {
  const cases: readonly (readonly [pattern: string, matching: readonly string[], other: readonly string[]])[] = [
    ['*.md', ['a.md', '.md', 'Ä.md'], ['a/b.md', 'a.mdx', 'a.MD']],
    ['**/*.md', ['a.md', 'a/b.md', 'a/b/c.md'], ['a.txt', 'a/md']],
    ['**', ['a', 'a/b', '.hidden/x'], []],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a', 'ab']],
    ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z', 'a/z/z'], ['z', 'a/z/y', 'b/z']],
    ['**/a/**/b/*.c', ['a/b/x.c', 'x/a/y/b/b/x.c'], ['a/x/x.c', 'b/a/x.c']],
    ['?.txt', ['a.txt', '😀.txt', '..txt'], ['ab.txt', '.txt']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x', 'Ax']],
    ['[!a-c]x', ['dx', '😀x'], ['ax']],
    ['[]x]', [']', 'x'], ['y']],
    ['[a-]', ['a', '-'], ['b']],
    ['{a,b}.{ts,js}', ['a.ts', 'b.js'], ['a.tsx', 'c.ts', '{a,b}.ts']],
    ['{src,test/{a,b}}/*.ts', ['src/x.ts', 'test/a/x.ts', 'test/b/x.ts'], ['test/x.ts']],
    ['{,x/}a', ['a', 'x/a'], ['y/a']],
    ['[{]a', ['{a'], ['a']],
    ['\\*\\{\\[\\\\', ['*{[\\'], ['a{[\\']],
    ['\\😀', ['😀'], ['\\😀']],
    ['./a', ['a'], ['./a']],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['../x', [], ['x', 'a/x']],
    ['/etc/*', [], ['etc/x', 'x']],
    ['**/', [], ['a', 'a/b']],
  ];
  for (const [pattern, matching, other] of cases) {
    it(`${pattern} matches ${matching.join(' ') || 'nothing'}`, () => {
      const glob = globPattern(pattern);
      expect(matching.filter((path) => !glob.matches(path))).to.deep.equal([]);
      expect(other.filter((path) => glob.matches(path))).to.deep.equal([]);
    });
  }

  for (const [pattern, message] of [
    ['[abc', 'never closed'],
    ['{a,b', 'never closed'],
    ['a/[/]b', 'never closed'],
    ['{a,b}'.repeat(6), 'more than 32 alternatives'],
    ['{'.repeat(500), 'never closed'],
    ['x'.repeat(513), 'longer than 512'],
  ] as const) {
    it(`refuses ${pattern.slice(0, 40)}`, () => {
      expect(() => globPattern(pattern)).to.throw(GlobProblem, message);
    });
  }

  it('never lead into a directory in vain, and into every directory that holds a match', () => {
    const segment = fc.constantFrom('a', 'b', '*', '**', '?', 'a*', '{a,b}', '[ab]');
    const name = fc.constantFrom('a', 'b', 'ab');
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.array(name, { minLength: 2, maxLength: 5 }), (segments, names) => {
        const glob = globPattern(segments.join('/'));
        if (!glob.matches(names.join('/'))) return;
        for (let depth = 1; depth < names.length; depth += 1) expect(glob.mayMatchBelow(names.slice(0, depth).join('/'))).to.equal(true);
      }),
    );
    expect(globPattern('src/*.ts').mayMatchBelow('test')).to.equal(false);
    expect(globPattern('src/*.ts').mayMatchBelow('src/deep')).to.equal(false);
  });

  it('match names as a regular expression of the same meaning does', () => {
    const piece = fc.constantFrom(['a', 'a'], ['b', 'b'], ['*', '[^/]*'], ['?', '[^/]'], ['[ab]', '[ab]'], ['.', '\\.']);
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.stringMatching(/^[ab.]{0,10}$/), (pieces, name) => {
        const regex = new RegExp(`^${pieces.map(([, source]) => source).join('')}$`);
        expect(globPattern(pieces.map(([text]) => text).join('')).matches(name)).to.equal(regex.test(name));
      }),
    );
  });

  it('stay quick whatever they are', () => {
    const since = performance.now();
    globPattern(`${'*a'.repeat(200)}b`).matches('a'.repeat(255));
    globPattern(`${'**/a*/'.repeat(80)}b`).matches('aa/'.repeat(64));
    globPattern(`{${'**/a*/'.repeat(60)}b,${'**/?*/'.repeat(20)}c}`).matches('aa/'.repeat(64));
    expect(performance.now() - since).to.be.lessThan(200);
  });
});
