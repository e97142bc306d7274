import { expect } from 'chai';
import fc from 'fast-check';
import { isOryxError } from '../../../kernel/index.ts';
import { parseFrontMatter } from '../../../plugins/agents/contract.ts';
import { type BasicEdit, withBasicEdit } from '../../../plugins/agents/edit-basic.ts';

const edited = (text: string, edit: BasicEdit): string => withBasicEdit(text, 'ops', edit);
const dataOf = (text: string): Record<string, unknown> => {
  const parsed = parseFrontMatter(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return JSON.parse(JSON.stringify(parsed.matter.data)) as Record<string, unknown>;
};
const text = `---
name: ops   # who
# what it is for
description: "old"   # keep me
provider:
    name: mock # cheap
    model: 'mock'

tools:   [ a,b ]
---

---js
body
`;

describe('a basic edit', () => {
  it('changes values and no other character', () => {
    expect(edited(text, { description: 'new one', provider: 'deepseek', model: 'chat-2' })).to.equal(
      text.replace('"old"', 'new one').replace('mock #', 'deepseek #').replace("'mock'", 'chat-2'),
    );
  });

  it('keeps what is null, absent or, for provider and model, blank', () => {
    expect(edited(text, {})).to.equal(text);
    expect(edited(text, { description: null, provider: null, model: null })).to.equal(text);
    expect(edited(text, { provider: ' ', model: '' })).to.equal(text);
  });

  it('removes a description that is blank, and only its line', () => {
    expect(edited(text, { description: ' ' })).to.equal(text.replace('description: "old"   # keep me\n', ''));
    expect(edited(text.replace('"old"', '|\n  a\n  b'), { description: '' }).includes('  b')).to.equal(false);
    const without = text.replace('description: "old"   # keep me\n', '');
    expect(edited(without, { description: '' })).to.equal(without);
  });

  it('adds a description behind the name', () => {
    const without = text.replace('description: "old"   # keep me\n', '');
    expect(edited(without, { description: 'x' })).to.equal(without.replace('# who\n', '# who\ndescription: x\n'));
    expect(edited('---\nname: ops\n---', { description: 'x' })).to.equal('---\nname: ops\ndescription: x\n---');
    expect(edited('---\n{name: ops}\n---\n', { description: 'x' })).to.equal('---\n{name: ops, description: x}\n---\n');
  });

  it('fills a key that has no value', () => {
    expect(edited('---\nname: ops\ndescription: # later\n---\n', { description: 'x' })).to.include('description: x # later');
  });

  it('creates a provider that is missing', () => {
    expect(dataOf(edited('---\nname: ops # x\n---\nbody', { provider: 'mock', model: 'm' }))).to.deep.equal({
      name: 'ops',
      provider: { name: 'mock', model: 'm' },
    });
  });

  it('keeps CRLF, a byte order mark and the body, byte for byte', () => {
    const windows = `\uFEFF${text.replaceAll('\n', '\r\n')}mixed\nlast\r`;
    const after = edited(windows, { description: '', model: 'm2' });
    expect(after).to.equal(windows.replace('description: "old"   # keep me\r\n', '').replace("'mock'", 'm2'));
    const without = windows.replace('description: "old"   # keep me\r\n', '');
    expect(edited(without, { description: 'x' })).to.equal(without.replace('# who\r\n', '# who\r\ndescription: x\r\n'));
  });

  it('quotes what would be read as something else', () => {
    for (const value of [
      'a: b',
      'x # y',
      'true',
      '12',
      'null',
      '- x',
      '"q"',
      "it's",
      'a\nname: evil',
      '  pad ',
      '*x',
      '日本: 語',
      '\u0007',
      '---',
      '{a}',
    ]) {
      expect(dataOf(edited(text, { description: value }))['description'], value).to.equal(value);
      expect(dataOf(edited('---\nprovider: {name: a, model: b}\n---\n', { model: value }))['provider'], value).to.deep.include({
        model: value,
      });
    }
  });

  it('refuses to change a value that others share through an anchor', () => {
    const shared = '---\nname: ops\ndescription: &d old\nidentity: {prompt: *d}\n---\n';
    expect(() => edited(shared, { description: 'new' }))
      .to.throw('anchors')
      .and.satisfy(isOryxError);
    expect(edited(shared.replace('*d', 'x'), { description: 'new' })).to.include('&d new');
  });

  it('refuses front matter that cannot be read, with the line', () => {
    expect(() => edited('---\nname: "ops\n---\n', { description: 'x' })).to.throw('agents/ops/AGENT.md:2:');
  });

  it('changes exactly what it was asked to, for any front matter and any values', () => {
    const scalar = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('a: b', '# x', '- y', '[', '{', '*a', '&a', '|', '%'),
    );
    const yamlOf = (value: unknown): string => JSON.stringify(value);
    const extras = fc.dictionary(fc.stringMatching(/^[a-z]{3,8}$/), fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 4 });
    const lineEnd = fc.constantFrom('\n', '\r\n');
    const value = fc.option(fc.string({ unit: 'grapheme' }), { nil: null });
    fc.assert(
      fc.property(extras, extras, lineEnd, fc.string(), value, value, value, (before, after, end, body, description, provider, model) => {
        const keys = (part: Record<string, unknown>, mark: string) =>
          Object.entries(part).map(([key, item]) => `${mark}${key}: ${yamlOf(item)} # ${mark}`);
        const head = [
          '---',
          ...keys(before, 'b_'),
          'name: ops',
          'provider:',
          '  name: mock',
          '  model: m # c',
          ...keys(after, 'a_'),
          '---',
        ];
        const source = `${head.join(end)}${end}${body}`;
        if (!parseFrontMatter(source).ok) return;
        const result = edited(source, { description, provider, model });
        const wanted = dataOf(source);
        if (description !== null && description.trim() !== '') wanted['description'] = description;
        const keep = wanted['provider'] as Record<string, unknown>;
        wanted['provider'] = { name: provider?.trim() ? provider : keep['name'], model: model?.trim() ? model : keep['model'] };
        expect(dataOf(result)).to.deep.equal(wanted);
        expect(result.endsWith(`---${end}${body}`)).to.equal(true);
        expect(result.match(/# [abc]/g) ?? []).to.have.length((source.match(/# [abc]/g) ?? []).length);
      }),
      { numRuns: 300 },
    );
  });
});
