import { expect } from 'chai';
import type { FileProblem } from '../../../plugins/outside/contract.ts';
import { pageOf, textOf } from '../../../plugins/tools/text-page.ts';

const KIB_256 = 256 * 1024;
const lines = (count: number, width = 10): string =>
  Array.from({ length: count }, (_, index) => `${String(index + 1).padStart(width - 1, '0')}\n`).join('');

describe('a page of a text file', () => {
  it('is the whole text when it fits', () => {
    expect(pageOf('a\nb', {})).to.equal('a\nb');
    expect(pageOf('a\r\nb\n', {})).to.equal('a\r\nb\n');
    expect(pageOf('\n', {})).to.equal('\n');
    expect(pageOf('x'.repeat(KIB_256), {})).to.equal('x'.repeat(KIB_256));
  });

  it('says that a file is empty', () => expect(pageOf('', {})).to.equal('(empty file)'));

  it('begins at the offset and ends after the limit, and says how to go on', () => {
    expect(pageOf('a\nb\nc\n', { offset: 2, limit: 1 })).to.equal('b\n[cut: lines 2-2 of 3 are shown; go on with offset 3]');
    expect(pageOf('a\nb\nc\n', { offset: 2 })).to.equal('b\nc\n');
    expect(pageOf('a\nb\nc', { offset: 3, limit: 9 })).to.equal('c');
    expect(pageOf('a\nb\n', { offset: 3 })).to.equal('(no line 3: the file has 2 lines)');
  });

  it('is cut after the last line that fits into 256 KiB', () => {
    const page = pageOf(lines(30_000), {});
    const [, end = ''] = /\n\[cut: lines 1-(\d+) of 30000 are shown; go on with offset \d+\]$/.exec(page) ?? [];
    expect(Number(end)).to.equal(Math.floor(KIB_256 / 10));
    expect(page.startsWith(lines(Number(end)))).to.equal(true);
  });

  it('reaches the end of the file in pages, with nothing lost and nothing twice', () => {
    const text = lines(60_000);
    let read = '';
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const page = pageOf(text, { offset });
      const [note = '', next] = /\[cut: .* go on with offset (\d+)\]$/.exec(page) ?? [];
      read += page.slice(0, page.length - note.length);
      offset = next === undefined ? undefined : Number(next);
    }
    expect(read).to.equal(text);
  });

  it('shows the start of a line that is longer than a page, cut between two characters', () => {
    const page = pageOf(`${'值'.repeat(100_000)}\nnext\n`, {});
    const [start = '', note = ''] = page.split('\n');
    expect(start).to.equal('值'.repeat(Math.floor(KIB_256 / 3)));
    expect(note).to.equal('[cut: line 1 of 2 has 300001 bytes and only its start is shown; go on with offset 2]');
    expect(pageOf('x'.repeat(KIB_256 + 1), {})).to.match(/only its start is shown\]$/);
  });
});

describe('the text of a file', () => {
  const problemWith = (bytes: readonly number[]): FileProblem => {
    try {
      textOf(Uint8Array.from(bytes), 'b.bin');
    } catch (error) {
      return error as FileProblem;
    }
    throw new Error('expected a problem');
  };

  it('loses its byte order mark', () => expect(textOf(Uint8Array.from([0xef, 0xbb, 0xbf, 0x61]), 'f')).to.equal('a'));

  it('is refused with a reason when it is binary, not UTF-8 or UTF-16', () => {
    expect(problemWith([0x00, 0xff, 0x89]).message).to.equal('Not a text file, it is binary: b.bin');
    expect(problemWith([0x61, 0xff, 0x61]).message).to.match(/^Not UTF-8 text, it is binary or has another encoding/);
    expect(problemWith([0xed, 0xa0, 0x80]).message).to.match(/^Not UTF-8/);
    expect(problemWith([0xff, 0xfe, 0x61, 0x00]).message).to.match(/UTF-16/);
    expect(problemWith([0xc3]).blockedBy).to.equal(undefined);
  });
});
