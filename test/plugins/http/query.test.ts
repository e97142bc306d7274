import { expect } from 'chai';
import { readParams, readQuery } from '../../../plugins/http/query.ts';

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    all: { type: 'boolean' },
    status: { enum: ['active', 'archived'] },
    tags: { type: 'array', items: { type: 'string' } },
    ids: { type: 'array', items: { type: 'integer' } },
  },
} as const;
const read = (text: string): Record<string, unknown> => ({ ...readQuery(text, schema) });

describe('http: query strings', () => {
  it('become values of the types that the schema declares', () => {
    expect(read('limit=20&ratio=-1.5e3&all=true&status=active&tags=a&tags=b&ids=1&ids=2')).to.deep.equal({
      limit: 20,
      ratio: -1500,
      all: true,
      status: 'active',
      tags: ['a', 'b'],
      ids: [1, 2],
    });
  });

  it('keep text that does not fit, so that validation names it', () => {
    expect(read('limit=abc&all=1&ratio=')).to.deep.equal({ limit: 'abc', all: '1', ratio: '' });
    for (const odd of [' 5', '5;drop', '0x10', 'Infinity', 'NaN', '1_000', '.5', '5.']) {
      expect(read(`limit=${encodeURIComponent(odd)}`)).to.deep.equal({ limit: odd });
    }
  });

  it('are decoded once, with plus for space', () => {
    expect(read('status=a+b%2Bc%2520d&x=1=2&flag&=y')).to.deep.equal({ status: 'a b+c%20d', x: '1=2', flag: '', '': 'y' });
  });

  it('are refused when a single value is given twice', () => {
    expect(() => read('status=active&status=x'))
      .to.throw('"status" is given more than once')
      .with.property('code', 'ORYX_INVALID_INPUT');
    expect(read('unknown=1&unknown=2')).to.deep.equal({ unknown: '2' });
  });

  for (const broken of ['a=%', 'a=%zz', 'a=%ff', 'a=%c0%ae', '%=1']) {
    it(`are refused with broken percent-encoding: ${broken}`, () => {
      expect(() => read(broken))
        .to.throw('percent-encoding')
        .with.property('code', 'ORYX_INVALID_INPUT');
    });
  }

  it('never touch prototypes', () => {
    const query = readQuery('__proto__[x]=1&__proto__=2&constructor=3&toString=4', schema);
    expect(Object.getPrototypeOf(query)).to.equal(null);
    expect(Object.keys(query)).to.have.members(['__proto__[x]', '__proto__', 'constructor', 'toString']);
    expect(({} as { x?: unknown }).x).to.equal(undefined);
  });

  it('leave path parameters alone but for declared numbers', () => {
    expect(readParams({ id: '7', name: '7' }, { properties: { id: { type: 'integer' }, name: { type: 'string' } } })).to.deep.equal({
      id: 7,
      name: '7',
    });
  });
});
