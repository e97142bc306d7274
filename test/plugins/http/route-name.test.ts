import { expect } from 'chai';
import { bySpecificity, routeName, shapeOf } from '../../../plugins/http/route-name.ts';
import type { RouteName } from '../../../plugins/http/route-name.ts';

const name = (text: string): RouteName => {
  const parsed = routeName(text);
  if (parsed === undefined) throw new Error(`"${text}" is not a route name`);
  return parsed;
};

describe('http: route names', () => {
  it('are taken apart into method, text and parameters', () => {
    expect(name('GET /api/v1/agents/{name}/memory')).to.deep.include({
      method: 'GET',
      segments: [
        { kind: 'text', text: 'api' },
        { kind: 'text', text: 'v1' },
        { kind: 'text', text: 'agents' },
        { kind: 'param', name: 'name' },
        { kind: 'text', text: 'memory' },
      ],
    });
  });

  for (const bad of [
    '',
    '/x',
    'GET x',
    'FETCH /x',
    'get /x',
    'GET /{}',
    'GET /{1}',
    'GET /a{b}',
    'GET /{a}{b}',
    'GET /{a-b}',
    'GET  /x',
    'GET /x y',
  ]) {
    it(`refuse "${bad}"`, () => expect(routeName(bad)).to.equal(undefined));
  }

  it('sort text before parameters, whatever the order they came in', () => {
    const sorted = ['GET /a/{x}/b', 'GET /{y}', 'GET /a/{x}/{z}', 'GET /a/b/{z}', 'GET /a/b/c', 'GET /a'].map(name).sort(bySpecificity);
    expect(sorted.map(({ path }) => path)).to.deep.equal(['/a', '/a/b/c', '/a/b/{z}', '/a/{x}/b', '/a/{x}/{z}', '/{y}']);
  });

  it('have the same shape when they match the same requests', () => {
    expect(shapeOf(name('GET /a/{x}'))).to.equal(shapeOf(name('GET /a/{y}')));
    expect(shapeOf(name('GET /a/{x}'))).not.to.equal(shapeOf(name('PUT /a/{x}')));
  });
});
