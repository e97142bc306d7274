import { expect } from 'chai';
import { OryxError, conflict } from '../../../kernel/index.ts';
import { defineRoute, raw } from '../../../plugins/http/contract.ts';
import type { Route } from '../../../plugins/http/contract.ts';
import { until } from '../../harness/until.ts';
import { type Serving, envelopeOf, serve, statusOf } from './serving.ts';

const calls: string[] = [];
const routes: readonly Route[] = [
  defineRoute({ name: 'GET /api/things', summary: '', kind: 'read', handle: () => [{ name: 'a', note: null }] }),
  defineRoute({ name: 'GET /api/nothing', summary: '', kind: 'read', handle: () => undefined }),
  defineRoute({
    name: 'GET /api/things/{name}',
    summary: '',
    kind: 'read',
    params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    handle: ({ params }) => params.name,
  }),
  defineRoute({ name: 'GET /api/things/new', summary: '', kind: 'read', handle: () => 'the static one' }),
  defineRoute({ name: 'DELETE /api/things/{name}', summary: '', kind: 'write', handle: () => void calls.push('deleted') }),
  defineRoute({
    name: 'GET /api/list',
    summary: '',
    kind: 'read',
    query: {
      type: 'object',
      properties: { limit: { type: 'integer', default: 100 }, all: { type: 'boolean', default: false }, status: { enum: ['a', 'b'] } },
    },
    handle: ({ query }) => ({ limit: query.limit, all: query.all, status: query.status ?? null }),
  }),
  defineRoute({
    name: 'GET /api/fails/{how}',
    summary: '',
    kind: 'read',
    params: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
    handle: (request) => {
      request.setHeader('X-Trace-Id', 't-1');
      if (request.params.how === 'known') throw conflict('Thing "a" is still used by "b".');
      if (request.params.how === 'provider') throw new OryxError('ORYX_PROVIDER_FAILED', 'Provider "p" did not answer.');
      if (request.params.how === 'json') return { a: 1n };
      throw new Error('SELECT secret FROM /etc/passwd');
    },
  }),
  defineRoute({
    name: 'GET /file.txt',
    summary: '',
    kind: 'read',
    handle: () =>
      raw(203, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'max-age=60' }, new TextEncoder().encode('häuser')),
  }),
  defineRoute({ name: 'GET /teapot', summary: '', kind: 'read', handle: (request) => request.header('X-Tea') ?? null }),
];

describe('http: transport', () => {
  let server: Serving;
  before(async () => {
    server = await serve(routes);
  });
  after(() => server[Symbol.asyncDispose]());
  const get = (path: string, headers?: Readonly<Record<string, string>>) => server.request('GET', path, undefined, headers);

  it('answers in the envelope with the time of the clock, nulls included', async () => {
    const answer = await get('/api/things');
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(JSON.parse(answer.text)).to.deep.equal({
      code: 0,
      message: 'success',
      data: [{ name: 'a', note: null }],
      timestamp: server.clock.now(),
    });
  });

  it('answers null for a handler without a result', async () => {
    expect(JSON.parse((await get('/api/nothing')).text)).to.deep.include({ code: 0, data: null });
  });

  it('sends the security headers, no CORS header, and a request id', async () => {
    const { headers } = await get('/api/things');
    expect(headers).to.include({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
      'cache-control': 'no-store',
    });
    expect(headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
  });

  it('answers 404 in the envelope for an unknown path, with the same headers', async () => {
    const answer = await get('/api/nope');
    expect(answer).to.deep.include({ status: 404, code: 404, data: null });
    expect(answer.headers['x-content-type-options']).to.equal('nosniff');
    for (const path of ['/api/things/', '/API/things', '//api/things', '/api//things', '/.env', '/api/things/a/b']) {
      expect((await get(path)).status, path).to.equal(404);
    }
  });

  it('answers 405 with Allow for a known path and another method', async () => {
    const answer = await server.request('PUT', '/api/things/a');
    expect(answer).to.deep.include({ status: 405, code: 405, data: null });
    expect(answer.headers['allow']).to.equal('DELETE, GET, HEAD');
    expect((await server.request('DELETE', '/api/things')).status).to.equal(405);
    expect((await server.request('OPTIONS', '/api/things')).status).to.equal(405);
    expect((await server.request('PROPFIND', '/api/things')).status).to.equal(405);
    expect((await server.request('OPTIONS', '/api/nope')).status).to.equal(404);
  });

  it('answers HEAD as GET, without a body', async () => {
    const head = await server.request('HEAD', '/api/things');
    const full = await get('/api/things');
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect(head.headers['content-length']).to.equal(full.headers['content-length']);
    expect((await server.request('HEAD', '/api/nope')).status).to.equal(404);
  });

  it('ignores method overrides', async () => {
    for (const header of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      expect((await server.request('POST', '/api/things/a', undefined, { [header]: 'DELETE' })).status).to.equal(405);
    }
    expect((await get('/api/things/a?_method=DELETE')).data).to.equal('a');
    expect(calls).to.deep.equal([]);
  });

  it('finds static segments before parameters, whatever was registered first', async () => {
    expect((await get('/api/things/new')).data).to.equal('the static one');
    expect((await get('/api/things/new2')).data).to.equal('new2');
    expect((await server.request('DELETE', '/api/things/new')).status).to.equal(200);
  });

  it('decodes path parameters once', async () => {
    expect((await get('/api/things/web:default:a%20b')).data).to.equal('web:default:a b');
    expect((await get('/api/things/..%2f..%2fetc')).data).to.equal('../../etc');
    expect((await get('/api/things/a%252f')).data).to.equal('a%2f');
    expect((await get('/api/things/%E4%BD%A0;x=1')).data).to.equal('你;x=1');
  });

  for (const path of [
    '/api/things/%',
    '/api/things/%ff',
    '/api/things/%c0%ae%c0%ae',
    '/api/things/%E0%A4%A',
    '/%zz',
    '/api/things/a%00',
    '/%0a',
  ]) {
    it(`answers 400 for the path ${path}`, async () => {
      expect(await get(path)).to.deep.include({ status: 400, code: 400, data: null });
    });
  }

  it('types the query by the schema and fills in defaults', async () => {
    expect((await get('/api/list')).data).to.deep.equal({ limit: 100, all: false, status: null });
    expect((await get('/api/list?limit=5&all=true&status=b&other=1')).data).to.deep.equal({ limit: 5, all: true, status: 'b' });
    expect((await get('/api/list?limit=1e9')).data.limit).to.equal(1e9);
  });

  for (const query of ['limit=abc', 'limit=', 'limit=1.5', 'limit=1;drop', 'all=yes', 'status=c', 'limit=1&limit=2', 'limit=%']) {
    it(`answers 400 for the query ${query}`, async () => {
      const answer = await get(`/api/list?${query}`);
      expect(answer).to.deep.include({ status: 400, code: 400, data: null });
      if (!query.endsWith('%')) expect(answer.message).to.include(query.split('=')[0]);
    });
  }

  it('answers an OryxError with its status and message, and keeps headers of the handler', async () => {
    const answer = await get('/api/fails/known');
    expect(answer).to.deep.include({ status: 409, code: 409, data: null, message: 'Thing "a" is still used by "b".' });
    expect(answer.headers['x-trace-id']).to.equal('t-1');
    expect(await get('/api/fails/provider')).to.deep.include({ status: 503, code: 503, message: 'Provider "p" did not answer.' });
  });

  it('answers anything else with a constant text and logs it under the id of the request', async () => {
    for (const how of ['badly', 'json']) {
      const answer = await get(`/api/fails/${how}`);
      expect(answer).to.deep.include({ status: 500, code: 500, data: null, message: 'Internal server error' });
      expect(answer.text).not.to.include('SELECT');
      const line = server.lines.find(({ fields }) => fields['requestId'] === answer.headers['x-request-id']);
      expect(line).to.deep.include({ level: 'error', plugin: 'http' });
      expect(line?.fields['error']).to.be.instanceOf(Error);
    }
  });

  it('sends raw answers as they are, under the same security headers', async () => {
    const answer = await get('/file.txt');
    expect(answer.status).to.equal(203);
    expect(answer.text).to.equal('häuser');
    expect(answer.headers).to.include({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'max-age=60',
      'x-content-type-options': 'nosniff',
    });
  });

  it('gives handlers the request headers by any spelling', async () => {
    expect((await get('/teapot', { 'x-tea': 'green' })).data).to.equal('green');
    expect((await get('/teapot')).data).to.equal(null);
  });

  it('refuses a foreign Host or Origin with 403 in the envelope, for every method and path', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE', 'POST', 'OPTIONS']) {
      for (const path of ['/api/things/a', '/api/nope']) {
        expect((await server.request(method, path, undefined, { host: 'evil.test' })).status).to.equal(403);
        expect((await server.request(method, path, undefined, { origin: 'http://evil.test' })).status).to.equal(403);
      }
    }
    const answer = await get('/api/things', { host: 'evil.test' });
    expect(answer).to.deep.include({ code: 403, data: null });
    expect(answer.message).to.include('evil.test').and.include('server.allowed-hosts');
    const crossSite = await server.request('DELETE', '/api/things/a', undefined, { 'sec-fetch-site': 'cross-site' });
    expect(crossSite.status).to.equal(403);
  });

  it('accepts a request of its own page', async () => {
    expect((await get('/api/things', { origin: server.url, 'sec-fetch-site': 'same-origin' })).status).to.equal(200);
  });
});

describe('http: raw requests', () => {
  let server: Serving;
  before(async () => {
    server = await serve(routes);
  });
  after(() => server[Symbol.asyncDispose]());
  const head = 'GET /api/things HTTP/1.1\r\n';

  const broken: readonly (readonly [string, string, readonly number[]])[] = [
    ['without Host', `${head}Connection: close\r\n\r\n`, [400]],
    ['HTTP/1.0 without Host', 'GET /api/things HTTP/1.0\r\n\r\n', [400]],
    ['with an empty Host', `${head}Host: \r\nConnection: close\r\n\r\n`, [403]],
    ['with two Hosts', `${head}Host: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n`, [400]],
    ['with two Hosts, the foreign one first', `${head}Host: a\r\nHost: localhost\r\nConnection: close\r\n\r\n`, [400]],
    ['with an absolute target', 'GET http://evil.test/api/things HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
    ['with an asterisk target', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
    ['with a fragment in the target', 'GET /api/things#x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
    ['with raw bytes in the target', 'GET /api/things/\u00e4 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
    ['with broken percent-encoding', 'GET /api/things/%E0%A4%A HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
    [
      'with length and chunks at once',
      'POST /api/things HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x',
      [400],
    ],
    ['that are not HTTP', 'hello\r\n\r\n', [400]],
    ['with a space in a header name', `${head}Ho st: localhost\r\n\r\n`, [400]],
    ['with a flood of headers', `${head}Host: localhost\r\n${'X-Flood: 0123456789\r\n'.repeat(2_000)}\r\n`, [431]],
    ['with one huge header', `${head}Host: localhost\r\nX-Huge: ${'x'.repeat(40_000)}\r\n\r\n`, [431]],
    ['with a huge target', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, [431]],
  ];
  for (const [what, text, statuses] of broken) {
    it(`are refused in the envelope: ${what}`, async () => {
      const answer = await server.raw(text);
      expect(statuses).to.include(statusOf(answer));
      expect(envelopeOf(answer)).to.deep.include({ code: statusOf(answer), data: null, timestamp: server.clock.now() });
    });
  }

  for (const path of [
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..%2f..%2fetc%2fpasswd',
    '//etc/passwd',
    '/\\..\\..\\etc\\passwd',
  ]) {
    it(`find nothing outside of the routes: ${path}`, async () => {
      const answer = await server.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(statusOf(answer)).to.equal(404);
    });
  }

  it('are still served when they expect a continue', async () => {
    const text =
      'Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}';
    expect(await server.raw(`DELETE /api/things/a HTTP/1.1\r\n${text}`)).to.match(/100 Continue[^]*HTTP\/1\.1 200/);
  });

  it('that follow each other on one connection are answered in order', async () => {
    const one = (name: string, close = ''): string => `GET /api/things/${name} HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`;
    const answer = await server.raw(one('first') + one('second') + one('third', 'Connection: close\r\n'));
    expect(answer.match(/"data":"\w+"/g)).to.deep.equal(['"data":"first"', '"data":"second"', '"data":"third"']);
  });

  it('that break after a good one do not spoil its answer', async () => {
    const client = await server.open();
    client.write('GET /api/things/first HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('the first answer', () => client.text.includes('first'));
    client.write('garbage\r\n\r\n');
    await client.ended;
    expect(client.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
});
