import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFrontMatter } from '../../../plugins/agents/contract.ts';

const read = (text: string) => {
  const result = parseFrontMatter(text);
  if (!result.ok) throw new Error(`${result.problem.line}:${result.problem.column} ${result.problem.message}`);
  return result.matter;
};
const problem = (text: string) => {
  const result = parseFrontMatter(text);
  if (result.ok) throw new Error('expected a problem');
  return result.problem;
};

describe('front matter', () => {
  it('is the YAML between two lines of dashes, and the rest is the body', () => {
    const { data, body, yamlLine } = read('---\nname: a\ntools: [x, y]\n---\n\nHello\n---\nmore\n');
    expect({ ...data }).to.deep.equal({ name: 'a', tools: ['x', 'y'] });
    expect([body, yamlLine]).to.deep.equal(['\nHello\n---\nmore\n', 2]);
  });

  it('may be empty, and may have blanks after its end', () => {
    expect({ ...read('---\n---\nbody').data }).to.deep.equal({});
    expect(read('---\n# only a comment\n---  \nbody').body).to.equal('body');
  });

  it('reads CRLF, CR and a byte order mark as an editor shows them', () => {
    const windows = read('\uFEFF---\r\nname: a\r\ndescription: "x"\r\n---\r\nbody\r\nlast\r\n');
    expect({ ...windows.data }).to.deep.equal({ name: 'a', description: 'x' });
    expect(windows.body).to.equal('body\nlast\n');
    expect(windows.positionOf(['description'])).to.deep.equal({ line: 3, column: 1 });
    expect({ ...read('---\rname: a\r---\rbody').data }).to.deep.equal({ name: 'a' });
  });

  it('knows where every key and list item stands', () => {
    const { positionOf } = read('---\nname: a\nprovider: {name: m, model: x}\ntools:\n  - one\n  - two\nx: *t\n---\n'.replace('*t', 'y'));
    expect(positionOf(['provider', 'model'])).to.deep.equal({ line: 3, column: 21 });
    expect(positionOf(['tools', 1])).to.deep.equal({ line: 6, column: 5 });
    expect(positionOf(['provider', 'missing'])).to.deep.equal({ line: 3, column: 1 });
  });

  for (const [what, text, line, column, words] of [
    ['an empty file', '', 1, 1, 'empty'],
    ['a file without dashes', 'name: a\n', 1, 1, 'first line'],
    ['another language', '---js\nmodule.exports = 1\n---\n', 1, 1, 'first line'],
    ['blanks after the first dashes', '--- \nname: a\n---\n', 1, 1, 'exactly "---"'],
    ['a missing end', '---\nname: a\n\nbody', 1, 1, 'no end'],
    ['an end with more than dashes', '---\nname: a\n---x\nb: 1\n---\n', 3, 1, 'starts with "---"'],
    ['a list', '---\n- a\n---\n', 2, 1, 'map'],
    ['a text', '---\njust text\n---\n', 2, 1, 'map'],
    ['an open quote', '---\nname: a\ndescription: "x\n---\n', 3, 16, 'quote'],
    ['a colon in a plain value', '---\nname: a\ndescription: do: it\n---\n', 3, 14, 'in quotes'],
    ['a cron without quotes', '---\nname: a\ncron: * * * * *\n---\n', 3, 7, 'in quotes'],
    ['a macro without quotes', '---\ncron: @daily\n---\n', 2, 7, 'in quotes'],
    ['tabs', '---\nname: a\nprovider:\n\tname: b\n---\n', 4, 1, 'spaces'],
    ['a key that is there twice', '---\nname: a\ntools: []\nname: b\n---\n', 4, 1, 'unique'],
    ['an alias of nothing', '---\nname: a\nx: *nobody\n---\n', 3, 4, 'alias'],
    ['an alias of itself', '---\nname: a\nx: &x [*x]\n---\n', 2, 1, 'itself'],
    ['an open list', '---\nname: a\ntools: [a, b\nx: 1\n---\n', 4, 1, ']'],
    ['two documents', '---\nname: a\n...\nb: 1\n---\n', 4, 1, 'more than one'],
  ] as const) {
    it(`refuses ${what} and says where`, () => {
      const found = problem(text);
      expect({ line: found.line, column: found.column }).to.deep.equal({ line, column });
      expect(found.message).to.include(words);
    });
  }

  it('never runs code, whatever language it claims to be', () => {
    const target = join(tmpdir(), `oryxos-pwned-${process.pid}`);
    const code = `require('fs').writeFileSync('${target}', '1')`;
    for (const language of ['js', 'javascript', 'coffee', 'cson', 'json', 'toml', ' js']) {
      expect(parseFrontMatter(`---${language}\n${code}\n---\n`).ok, language).to.equal(false);
    }
    expect(read(`---\nname: a\n---\n---js\n${code}\n---\n`).body).to.equal(`---js\n${code}\n---\n`);
    expect(parseFrontMatter(`---\nx: !!js/function ${JSON.stringify(`function () { ${code} }`)}\n---\n`).ok).to.equal(true);
    expect(existsSync(target)).to.equal(false);
  });

  it('answers the same text the same way after a failure', () => {
    const text = '---\nname: "a\n---\n';
    expect([problem(text).line, problem(text).line]).to.deep.equal([2, 2]);
  });

  it('gives nothing a prototype and leaves __proto__ out, at every depth', () => {
    const { data } = read('---\n__proto__: {admin: true}\nconstructor: c\nx: {__proto__: {admin: true}, y: [{__proto__: {z: 1}}]}\n---\n');
    expect(Object.getPrototypeOf(data)).to.equal(null);
    expect(Object.keys(data)).to.deep.equal(['constructor', 'x']);
    expect(JSON.stringify(data)).to.equal('{"constructor":"c","x":{"y":[{}]}}');
    expect(({} as { admin?: boolean }).admin).to.equal(undefined);
  });

  it('cannot be changed by those who read it', () => {
    const { data } = read('---\ntools: [a]\nx: {y: 1}\n---\n');
    expect([data, data['tools'], data['x']].every((value) => Object.isFrozen(value))).to.equal(true);
  });

  it('does not take YAML 1.1 for YAML: no merge keys, no "yes"', () => {
    expect(JSON.stringify(read('---\na: yes\nb: 010\n<<: {c: 1}\n---\n').data)).to.equal('{"a":"yes","b":10,"<<":{"c":1}}');
  });

  it('warns of tags that mean nothing', () => {
    expect(read('---\nname: a\nx: !secret y\n---\n').warnings.join()).to.match(/^line 3: .*!secret/);
  });

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefg'.split('').map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdef'[index]}`).join()}]`),
  ];
  for (const [what, yaml, words] of [
    ['an alias bomb', `name: a\n${bomb.join('\n')}`, 'alias'],
    ['60 000 open brackets', `a: ${'['.repeat(60_000)}`, 'deep'],
    ['30 000 nested lists, all closed', `a: ${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'deep'],
    ['nested lists behind quoted brackets', `a: ${'[ "]", '.repeat(5_000)}`, 'deep'],
    ['30 000 dashes', `${'- '.repeat(30_000)}x`, 'deep'],
    ['30 000 question marks', `${'? '.repeat(30_000)}x`, 'deep'],
    ['15 000 nested maps', '{a: '.repeat(15_000), 'deep'],
    ['more than 64 KB', `a: ${'x'.repeat(65_600)}`, '64 KB'],
  ] as const) {
    it(`refuses ${what} in no time`, function () {
      this.timeout(5_000);
      const began = performance.now();
      expect(problem(`---\n${yaml}\n---\n`).message).to.include(words);
      expect(performance.now() - began).to.be.below(2_500);
    });
  }
});
