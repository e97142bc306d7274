import { expect } from 'chai';
import * as fc from 'fast-check';
import { quote } from 'shlex';
import { commandLine } from '../../../plugins/tools/command-line.ts';

const words = (text: string): readonly string[] => {
  const line = commandLine(text);
  if (!line.ok) throw new Error(line.reason);
  return [line.executable, ...line.arguments];
};
const reason = (text: string): string => {
  const line = commandLine(text);
  if (line.ok) throw new Error(`was taken: ${JSON.stringify(line)}`);
  return line.reason;
};

describe('a command line', () => {
  it('is split at blanks, with quotes and backslashes as in a shell', () => {
    expect(words('ls')).to.deep.equal(['ls']);
    expect(words("  grep -n 'a b'  notes.txt ")).to.deep.equal(['grep', '-n', 'a b', 'notes.txt']);
    expect(words('echo "a \\"b\\"" c\\ d \'\'')).to.deep.equal(['echo', 'a "b"', 'c d', '']);
    expect(words("find . -name '*.txt' -exec cat {} \\;")).to.deep.equal(['find', '.', '-name', '*.txt', '-exec', 'cat', '{}', ';']);
    expect(words('echo a#b x~y "it\'s; fine" $'.slice(0, -2))).to.deep.equal(['echo', 'a#b', 'x~y', "it's; fine"]);
  });

  const syntax: readonly (readonly [string, string])[] = [
    ['ls; id', ';'],
    ['ls && id', '&'],
    ['ls | id', '|'],
    ['cat </etc/passwd', '<'],
    ['ls >x', '>'],
    ['ls $(id)', '$'],
    ['echo $HOME', '$'],
    ["echo $'a'", '$'],
    ['echo "$HOME"', '$'],
    ['echo "\\$HOME"', '$'],
    ['ls `id`', '`'],
    ['echo "`id`"', '`'],
    ['(ls)', '('],
    ['ls\nid', '\\n'],
    ['ls *.txt', '*'],
    ['ls ?', '?'],
    ['ls [a-z]', '['],
    ['ls ~/x', '~'],
    ['ls # all', '#'],
    ['echo "a";id', ';'],
    ["echo 'a'$x", '$'],
  ];
  for (const [text, character] of syntax) {
    it(`with shell syntax is refused, naming it: ${JSON.stringify(text)}`, () => {
      expect(reason(text)).to.include('no shell syntax').and.include(`"${character}"`);
    });
  }

  it('that ends inside quotes or after a backslash, or is blank, is refused', () => {
    for (const text of ['echo "oops', "echo 'oops", 'echo oops\\']) expect(reason(text), text).to.include('ends inside quotes');
    for (const text of ['', '  \t']) expect(reason(text)).to.equal('command is blank');
  });

  it('made of quoted words gives exactly these words', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (given) => {
        expect(
          words(given.map((text) => (/^[~#]/.test(text) ? `'${text.replaceAll("'", `'"'"'`)}'` : quote(text))).join(' ')),
        ).to.deep.equal(given);
      }),
    );
  });
});
