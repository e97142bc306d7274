import { expect } from 'chai';
import { Schemas, compileSchema, deepFreeze, type Checked, type JsonSchema } from '../../kernel/index.ts';

const search = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
    mode: { enum: ['text', 'hex'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    range: { type: 'object', properties: { from: { type: 'number' } }, required: ['from'], additionalProperties: false },
    active: { type: 'boolean' },
    note: { type: ['string', 'null'], maxLength: 5 },
    at: { type: 'string', format: 'date-time' },
    id: { type: 'string', pattern: '^[a-z]+$' },
  },
  required: ['path'],
  additionalProperties: false,
} as const;

/** The message for a value that does not pass. */
function fault(schema: JsonSchema, value: unknown): string {
  const checked: Checked<unknown> = compileSchema(schema)(value);
  if (checked.ok) throw new Error('expected a fault');
  return checked.message;
}

/** The message for one property of `search`. */
const about = (members: Readonly<Record<string, unknown>>): string => fault(search, { path: 'p', ...members });

describe('compileSchema', () => {
  it('fills defaults into a copy and leaves the input as it was', () => {
    const input = { path: 'a' };
    expect(compileSchema(search)(input)).to.deep.equal({ ok: true, value: { path: 'a', limit: 10 } });
    expect(input).to.deep.equal({ path: 'a' });
  });

  it('fills defaults into the input itself when asked to', () => {
    const input = { path: 'a' };
    compileSchema(search)(input, { inPlace: true });
    expect(input).to.deep.equal({ path: 'a', limit: 10 });
  });

  it('converts nothing', () => {
    expect(about({ limit: '5' })).to.equal('limit must be an integer');
    expect(about({ active: 'true' })).to.equal('active must be true or false');
  });

  it('names every parameter at fault in one sentence', () => {
    expect(fault(search, { limit: 'x' })).to.equal('path is required; limit must be an integer');
  });

  it('says in plain words what each rule wants', () => {
    expect(about({ path: '' })).to.equal('path must not be empty');
    expect(about({ limit: 0 })).to.equal('limit must be at least 1');
    expect(about({ limit: 51 })).to.equal('limit must be at most 50');
    expect(about({ mode: 'bin' })).to.equal('mode must be one of "text", "hex"');
    expect(about({ tags: ['a', 'b', 'c', 'd'] })).to.equal('tags must have at most 3 entries');
    expect(about({ note: 5 })).to.equal('note must be a string or null');
    expect(about({ note: 'too long' })).to.equal('note must have at most 5 characters');
    expect(about({ at: 'yesterday' })).to.equal('at must be an ISO 8601 date and time with zone');
    expect(about({ id: 'ABC' })).to.equal('id must match ^[a-z]+$');
    expect(fault({ type: 'object', properties: { mode: { const: 'on' } } }, { mode: 'off' })).to.equal('mode must be "on"');
    expect(fault({ type: 'number', exclusiveMinimum: 0 }, 0)).to.equal('the value must be greater than 0');
    expect(fault({ not: {} }, 0)).to.equal('the value is not allowed');
    expect(fault({ type: 'object', propertyNames: { pattern: '^[a-z]+$' } }, { A1: 1 })).to.equal('A1 is not an allowed name');
  });

  it('names the key that is not known', () => {
    expect(about({ colour: 'red' })).to.equal('colour is not known');
  });

  it('gives dotted paths into nested values', () => {
    expect(about({ range: { from: 'x', to: 1 } })).to.equal('range.to is not known; range.from must be a number');
    expect(about({ range: {} })).to.equal('range.from is required');
    expect(about({ tags: ['a', 1] })).to.equal('tags.1 must be a string');
  });

  it('calls the whole value by the name that the caller gives', () => {
    expect(fault(search, 'text')).to.equal('the value must be an object');
    expect(compileSchema(search)(null, { subject: 'the body' })).to.deep.equal({ ok: false, message: 'the body must be an object' });
  });

  it('names five faults at most and counts the others', () => {
    const value = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, 1]));
    expect(about(value)).to.equal('k0 is not known; k1 is not known; k2 is not known; k3 is not known; k4 is not known; and 4 more');
  });

  it('speaks of a choice as a whole, not of its branches', () => {
    const types = { type: 'object', properties: { id: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] } } };
    expect(fault(types, { id: true })).to.equal('id must be a string or an integer or null');
    const either = { type: 'object', anyOf: [{ required: ['url'] }, { required: ['path'] }] };
    expect(fault(either, {})).to.equal('the value has none of the allowed forms');
  });

  it('never shows the words of the validator', () => {
    const schemas: readonly (readonly [JsonSchema, unknown])[] = [
      [{ type: 'array', contains: { type: 'string' } }, [1]],
      [{ type: 'array', uniqueItems: true }, [1, 1]],
      [JSON.parse('{ "type": "object", "if": { "required": ["a"] }, "then": { "required": ["b"] } }') as JsonSchema, { a: 1 }],
      [{ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }],
      [{ type: 'number', multipleOf: 2 }, 3],
      [{ type: 'object', minProperties: 1 }, {}],
    ];
    for (const [schema, value] of schemas) expect(fault(schema, value)).to.not.match(/schema|NOT|then|instancePath|\//);
  });

  it('does not take inherited properties for given ones', () => {
    expect(fault({ type: 'object', properties: { constructor: {} }, required: ['constructor'] }, {})).to.equal('constructor is required');
    const hostile: unknown = JSON.parse('{"__proto__": {"path": "x"}}');
    expect(fault(search, hostile)).to.include('path is required');
    expect(({} as { path?: string }).path).to.equal(undefined);
  });

  it('takes linear time for a pattern and a text that make backtracking engines hang', () => {
    const pattern = '^(a+)+$';
    const text = `${'a'.repeat(40)}!`;
    const since = performance.now();
    expect(fault({ type: 'string', pattern }, text)).to.equal(`the value must match ${pattern}`);
    expect(performance.now() - since).to.be.below(1_000);
  });

  it('refuses a value that is nested without end', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(fault({}, deep)).to.equal('the value is nested more than 100 levels deep');
  });

  it('compiles a schema object once per set of schemas', () => {
    const schema = { type: 'string' } as const;
    const schemas = new Schemas();
    expect(schemas.compile(schema)).to.equal(schemas.compile(schema));
    expect(schemas.compile(schema)).to.not.equal(new Schemas().compile(schema));
    expect(compileSchema(schema)).to.equal(compileSchema(schema));
  });

  it('accepts examples in a schema, and tells authors of keywords, formats and patterns that it does not know', () => {
    expect(compileSchema({ type: 'string', example: 'a', examples: ['b'] })('x').ok).to.equal(true);
    for (const wrong of [
      { type: 'string', maxLenght: 3 },
      { type: 'string', format: 'nonsense' },
      { type: 'string', pattern: '(?=a)' },
      { type: 'strnig' },
    ]) {
      expect(() => compileSchema(wrong))
        .to.throw('a schema is not valid')
        .with.property('code', 'ORYX_CONFIG');
    }
  });

  it('takes foreign schemas as they come', () => {
    const foreign = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://example.com/tool',
      type: 'object',
      properties: { a: { $ref: '#/definitions/word', 'x-order': 1 } },
      definitions: { word: { type: 'string', format: 'nonsense', pattern: '(?=a)' } },
      required: ['a'],
    };
    const check = compileSchema(foreign, { foreign: true });
    expect(check({ a: 'x' }).ok).to.equal(true);
    expect(check({ a: 1 })).to.deep.equal({ ok: false, message: 'a must be a string' });
    expect(compileSchema({ ...foreign }, { foreign: true })({}).ok).to.equal(false);
  });
});

describe('deepFreeze', () => {
  it('freezes plain data all the way down', () => {
    const value = deepFreeze({ a: [{ b: 1 }], c: new Date(0) });
    expect(Object.isFrozen(value.a[0])).to.equal(true);
    expect(Object.isFrozen(value.c)).to.equal(false);
  });
});
