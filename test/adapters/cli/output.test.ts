import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createOutput, tableLines } from '../../../adapters/cli/output.ts';
import { blockText, columnsOf, cutTo, jsonText, lineText } from '../../../adapters/cli/text.ts';

const columns = { NAME: (row: { name: string; note: string | null }) => row.name, NOTE: (row: { note: string | null }) => row.note };

describe('the output of the command line', () => {
  it('aligns columns under their headings and shows a dash for nothing', () => {
    const rows = [
      { name: 'a', note: null },
      { name: 'longer', note: 'two\nlines' },
    ];
    expect(tableLines(rows, columns)).to.deep.equal(['NAME    NOTE', 'a       -', 'longer  two lines']);
  });

  it('counts wide characters as two columns', () => {
    const rows = [
      { name: '助手', note: 'x' },
      { name: 'abc', note: 'y' },
    ];
    expect(tableLines(rows, columns)).to.deep.equal(['NAME  NOTE', '助手  x', 'abc   y']);
    expect(columnsOf('é')).to.equal(1);
    expect(columnsOf('e\u0301')).to.equal(1);
  });

  it('cuts lines at the edge of a terminal', () => {
    expect(tableLines([{ name: 'a', note: 'much too long' }], columns, 12)).to.deep.equal(['NAME  NOTE', 'a     much …']);
    expect(cutTo(4, '助手助手')).to.equal('助…');
  });

  it('lets no control character of a server reach the terminal', () => {
    expect(lineText('a\u001b[2Jb\u0007\tc')).to.equal('a\\x1b[2Jb\\x07 c');
    expect(blockText('a\r\nb\u009b31m\u202ec\td')).to.equal('a\nb\\x9b31m\\u202ec\td');
    const json = jsonText({ text: '\u001b[2J\u009b1m' });
    expect(json).to.not.contain('\u001b').and.to.not.contain('\u009b');
    expect(JSON.parse(json)).to.deep.equal({ text: '\u001b[2J\u009b1m' });
  });

  it("colours on a terminal only, and not against the person's wish", () => {
    const paint = (isTTY: boolean, env: Record<string, string>): string => {
      const stream = Object.assign(new PassThrough(), { isTTY });
      return createOutput(stream, stream, env).paint('red', 'x');
    };
    expect(paint(true, {})).to.equal('\u001b[31mx\u001b[0m');
    expect(paint(true, { NO_COLOR: '1' })).to.equal('x');
    expect(paint(true, { TERM: 'dumb' })).to.equal('x');
    expect(paint(false, {})).to.equal('x');
  });
});
