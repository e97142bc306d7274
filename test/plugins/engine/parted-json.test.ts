import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { partedJson } from '../../../plugins/engine/parted-json.ts';

const LONG = 64 * 1024;

/** Whole again, as the journal's statement does it. */
function whole(value: unknown): unknown {
  const { json, texts } = partedJson(value);
  const db = new Database(':memory:');
  try {
    const sql = `SELECT json_set(?${', ?, ?'.repeat(texts.length)}) AS json`;
    const row = db.prepare(sql).get(json, ...texts.flat()) as { readonly json: string };
    return JSON.parse(row.json);
  } finally {
    db.close();
  }
}

describe('JSON with its long texts apart', () => {
  it('is what it was, whatever stands in the texts and beside them', () => {
    const long = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => text.repeat(LONG / text.length + 1));
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, long, fc.jsonValue({ maxDepth: 2 }), tie('object')),
      object: fc.dictionary(fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('content', 'reply', 'a_1', '__proto__')), tie('value'), {
        maxKeys: 5,
      }),
    }));
    fc.assert(
      fc.property(tree.object, (value) => {
        expect(whole(value)).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 150 },
    );
  });

  it('takes out what is long, and leaves the value itself alone', () => {
    const value = { ok: true, reply: { content: 'x'.repeat(LONG), toolCalls: [] } };
    const { json, texts } = partedJson(value);
    expect(json).to.equal('{"ok":true,"reply":{"content":"","toolCalls":[]}}');
    expect(texts).to.deep.equal([['$.reply.content', 'x'.repeat(LONG)]]);
    expect(value.reply.content).to.have.length(LONG);
  });

  it('has nothing apart when nothing is long, when half a character would be lost, and when there is too much', () => {
    const plain = { success: true, content: 'x'.repeat(LONG - 1) };
    const broken = { content: `${'x'.repeat(LONG)}\ud800` };
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`t${index}`, 'x'.repeat(LONG)]));
    for (const value of [plain, broken, many, undefined]) {
      expect(partedJson(value)).to.deep.equal({ json: JSON.stringify(value) ?? 'null', texts: [] });
    }
  });
});
