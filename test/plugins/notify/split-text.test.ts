import { expect } from 'chai';
import { splitText } from '../../../plugins/notify/split-text.ts';

const bytes = (text: string): number => Buffer.byteLength(text);
const inBytes = (text: string, max: number): readonly string[] => splitText(text, (part) => bytes(part) <= max);

/** The same numbers in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PIECES = [
  ['word ', 'a', ' ', '\n', '\r\n', '\n\n', '\t', 'x'.repeat(40), '`code`', '> ', '\u0000', '\u2028'],
  ['汉字', '日本語テキスト、', '한국어 ', 'é', 'e\u0301', 'ｗｉｄｅ'.repeat(8), '👍', '👨‍👩‍👧‍👦', '🇩🇪', '👍🏽', '\ud83d'],
  ['```\n', '```ts\n', '~~~\n', '````\n', '| a | b |\n', '|---|---|\n'],
].flat();

function randomText(random: (below: number) => number): string {
  const length = 1 + random(random(4) === 0 ? 300 : 40);
  return Array.from({ length }, () => PIECES[random(PIECES.length)]).join('');
}

/** No cut in a line where there is a line break before it, and none in a character as people see it unless that is larger than a part. */
function expectGoodCuts(text: string, parts: readonly string[], max: number, about: string): void {
  const large = [...new Intl.Segmenter('en').segment(text)].filter(({ segment }) => bytes(segment) > max);
  const boundaries = new Set([...new Intl.Segmenter('en').segment(text)].map(({ index }) => index));
  let at = 0;
  for (const part of parts.slice(0, -1)) {
    at += part.length;
    if (!part.endsWith('\n')) expect(part, about).to.not.include('\n');
    const isInLarge = large.some(({ index, segment }) => index < at && at < index + segment.length);
    if (!isInLarge) expect(boundaries.has(at), `${about}, cut at ${at}`).to.equal(true);
  }
}

describe('splitting of a message', () => {
  it('keeps every character, once and in order, within the limit, for any text', function () {
    this.timeout(30_000);
    for (let seed = 1; seed <= 1_500; seed += 1) {
      const random = randomFrom(seed);
      const text = randomText(random);
      const max = 4 + random(120);
      const parts = inBytes(text, max);
      const about = `seed ${seed}, limit ${max}`;
      expect(parts.join(''), about).to.equal(text);
      for (const part of parts) {
        expect(part, about).to.not.equal('');
        expect(bytes(part), about).to.be.at.most(max);
        expect(part, about).to.not.match(/^[\udc00-\udfff]/);
      }
      expectGoodCuts(text, parts, max, about);
      const from = (parts[0] ?? '').length;
      expect(
        splitText(text, (part) => bytes(part) <= max, from),
        `${about}, taken up`,
      ).to.deep.equal(parts.slice(1));
    }
  });

  it('leaves a text that fits as it is, and has no part for an empty one', () => {
    expect(inBytes('one\ntwo\n', 8)).to.deep.equal(['one\ntwo\n']);
    expect(inBytes('', 8)).to.deep.equal([]);
  });

  it('keeps lines whole where they fit, and fills the parts', () => {
    expect(inBytes('aaaa\nbbbb\ncccc\ndd', 10)).to.deep.equal(['aaaa\nbbbb\n', 'cccc\ndd']);
    expect(inBytes('aaaa\r\nbbbb\r\n', 11)).to.deep.equal(['aaaa\r\n', 'bbbb\r\n']);
  });

  it('keeps a code fence and a table whole where they fit into a part', () => {
    const fence = '```ts\nlet a;\n\nlet b;\n```\n';
    expect(inBytes(`before\nbefore\n${fence}after\n`, 30)).to.deep.equal(['before\nbefore\n', fence, 'after\n']);
    const table = '| a | b |\n|---|---|\n| 1 | 2 |\n';
    expect(inBytes(`before\n${table}after\n`, 32)).to.deep.equal(['before\n', table, 'after\n']);
  });

  it('knows where a fence ends: at its own mark, or with the text', () => {
    const nested = '````\n```\nx\n```\n````\n';
    expect(inBytes(`aaaaaaaaaa\n${nested}bbbbb\n`, 24)).to.deep.equal(['aaaaaaaaaa\n', nested, 'bbbbb\n']);
    const open = '~~~\nx\n```\ny\n';
    expect(inBytes(`aaaaaaaaaa\n${open}`, 20)).to.deep.equal(['aaaaaaaaaa\n', open]);
    expect(inBytes('```not` a fence\nb\nc\nd\n', 18)).to.deep.equal(['```not` a fence\nb\n', 'c\nd\n']);
  });

  it('cuts a fence that is too long between its lines', () => {
    const lines = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join('');
    const parts = inBytes(`\`\`\`\n${lines}\`\`\`\n`, 30);
    expect(parts.join('')).to.equal(`\`\`\`\n${lines}\`\`\`\n`);
    for (const part of parts) expect(part).to.match(/\n$/);
  });

  it('cuts a long line behind a word, else between characters as people see them', () => {
    expect(inBytes('hello wonderful world', 16)).to.deep.equal(['hello wonderful ', 'world']);
    expect(inBytes('汉字汉字', 7)).to.deep.equal(['汉字', '汉字']);
    const family = '👨‍👩‍👧‍👦';
    expect(inBytes(family.repeat(3), bytes(family) * 2 + 10)).to.deep.equal([family.repeat(2), family]);
    expect(inBytes('🇩🇪🇫🇷🇬🇧', 12)).to.deep.equal(['🇩🇪', '🇫🇷', '🇬🇧']);
    expect(inBytes('abce\u0301', 5)).to.deep.equal(['abc', 'e\u0301']);
  });

  it('cuts a character as people see it only when it is larger than a part', () => {
    const family = '👨‍👩‍👧‍👦';
    const parts = inBytes(family, 10);
    expect(parts.join('')).to.equal(family);
    for (const part of parts) expect(bytes(part)).to.be.at.most(10);
    expect(inBytes('👍👍', 2)).to.deep.equal(['👍', '👍']);
  });

  it('takes any measure that grows with the text', () => {
    const json = (text: string): number => bytes(JSON.stringify({ text }));
    const text = '"quoted"\n'.repeat(50);
    const parts = splitText(text, (part) => json(part) <= 100);
    expect(parts.join('')).to.equal(text);
    for (const part of parts) expect(json(part)).to.be.at.most(100);
    expect(parts.length).to.be.at.most(8);
  });

  it('measures in proportion to the length of the text, whatever it is made of', () => {
    for (const piece of ['x', 'word ', '👍🏽', '```\nx\n```\n', '| a |\n', '```', '汉', '\n', ' ']) {
      const measured = (size: number): number => {
        let chars = 0;
        const text = piece.repeat(size / piece.length);
        const parts = splitText(text, (part) => {
          chars += part.length;
          return bytes(part) <= 2_048;
        });
        expect(parts.join('').length).to.equal(text.length);
        return chars;
      };
      expect(measured(400_000), JSON.stringify(piece)).to.be.below(measured(50_000) * 8 * 1.5);
    }
  });
});
