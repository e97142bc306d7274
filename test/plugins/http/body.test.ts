import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { defineRoute } from '../../../plugins/http/contract.ts';
import type { Route } from '../../../plugins/http/contract.ts';
import { until } from '../../harness/until.ts';
import { type Serving, envelopeOf, serve, statusOf } from './serving.ts';

const body = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1 }, size: { type: 'integer', default: 1 } },
  required: ['name'],
} as const;
const routes: readonly Route[] = [
  defineRoute({ name: 'POST /needs', summary: '', kind: 'write', body, handle: (request) => request.body }),
  defineRoute({
    name: 'POST /strict',
    summary: '',
    kind: 'write',
    body: { ...body, additionalProperties: false },
    handle: (request) => request.body,
  }),
  defineRoute({
    name: 'POST /optional',
    summary: '',
    kind: 'write',
    body: { type: 'object', properties: { size: { type: 'integer', default: 7 } } },
    bodyOptional: true,
    handle: (request) => request.body,
  }),
  defineRoute({ name: 'POST /none', summary: '', kind: 'write', handle: (request) => request.body }),
  defineRoute({ name: 'DELETE /needs', summary: '', kind: 'write', body, handle: (request) => request.body }),
  defineRoute({
    name: 'PUT /big',
    summary: '',
    kind: 'write',
    body,
    maxBodyBytes: 3 * 1024 * 1024,
    handle: (request) => request.body.name.length,
  }),
];
const JSON_TYPE = { 'content-type': 'application/json' };

describe('http: request bodies', () => {
  let server: Serving;
  before(async () => {
    server = await serve(routes);
  });
  after(() => server[Symbol.asyncDispose]());
  const post = (path: string, text: string | undefined, headers: Readonly<Record<string, string>> = JSON_TYPE) =>
    server.request('POST', path, text, headers);

  it('are parsed, checked, and completed with defaults', async () => {
    expect((await post('/needs', '{"name":"a"}')).data).to.deep.equal({ name: 'a', size: 1 });
    expect((await server.request('DELETE', '/needs', { name: 'b' })).data).to.deep.equal({ name: 'b', size: 1 });
  });

  for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"', 'application/json; x=y']) {
    it(`are accepted as ${type}`, async () =>
      expect((await post('/needs', '{"name":"a"}', { 'content-type': type })).status).to.equal(200));
  }

  const types = ['', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/octet-stream'];
  for (const type of [...types, 'application/jsonp', 'text/plain; application/json', 'application/json; charset=gbk']) {
    it(`are refused with 415 as "${type}", whatever they hold and whether the route takes one`, async () => {
      for (const path of ['/needs', '/optional', '/none']) {
        const answer = await post(path, '{"name":"a"}', { 'content-type': type });
        expect(answer, path).to.deep.include({ status: 415, code: 415, data: null });
      }
    });
  }

  it('are refused with 415 when compressed, without inflating anything', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const answer = await server.raw(
      Buffer.concat([
        Buffer.from(
          `POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\nConnection: close\r\n\r\n`,
        ),
        bomb,
      ]),
    );
    expect(statusOf(answer)).to.equal(415);
  });

  it('may be missing only where they are optional, and need no content type then', async () => {
    for (const headers of [{}, JSON_TYPE]) {
      expect(await post('/needs', undefined, headers)).to.deep.include({ status: 400, code: 400, data: null });
      expect((await post('/optional', undefined, headers)).data).to.deep.equal({ size: 7 });
      expect((await post('/none', undefined, headers)).data).to.deep.equal({});
    }
    expect((await post('/needs', '')).message).to.include('missing');
  });

  it('that are empty chunks count as missing', async () => {
    const text =
      'HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n';
    expect(envelopeOf(await server.raw(`POST /needs ${text}`)).message).to.include('missing');
    expect(envelopeOf(await server.raw(`POST /optional ${text}`)).data).to.deep.equal({ size: 7 });
  });

  for (const text of ['{', '{"name":}', '{"name":"a"', "{'name':'a'}", '{"name":"a"}}', 'name=a', '{"name":"\u0001"}', '{"name":"a",}']) {
    it(`are refused with 400 when malformed: ${JSON.stringify(text)}`, async () => {
      const answer = await post('/needs', text);
      expect(answer).to.deep.include({ status: 400, code: 400, data: null });
    });
  }

  for (const text of ['[]', '[{"name":"a"}]', '"name"', '1', 'null', 'true', ' ']) {
    it(`are refused with 400 when they are not an object: ${text}`, async () => {
      const answer = await post('/needs', text);
      expect(answer).to.deep.include({ status: 400, data: null });
      expect(answer.message).to.include('JSON object');
    });
  }

  it('that are malformed are not quoted back', async () => {
    expect((await post('/needs', '{"apiKey": sk-secret-1234}')).text).not.to.include('secret');
  });

  it('are checked by the schema: the field is named, nothing is coerced, unknown fields are ignored unless the schema forbids them', async () => {
    expect((await post('/needs', '{}')).message).to.include('name');
    expect((await post('/needs', '{"name":""}')).message).to.include('name');
    expect((await post('/needs', '{"name":1}')).message).to.include('name');
    expect((await post('/needs', '{"name":"a","size":"2"}')).message).to.include('size');
    expect((await post('/needs', '{"name":"a","size":null}')).status).to.equal(400);
    expect((await post('/needs', '{"name":"a","more":1}')).status).to.equal(200);
    expect(await post('/strict', '{"name":"a","more":1}')).to.deep.include({ status: 400 });
  });

  it('that try to change prototypes change nothing', async () => {
    const answer = await post('/needs', '{"name":"a","__proto__":{"isAdmin":true}}');
    expect(answer.status).to.equal(400);
    expect(answer.message).to.include('__proto__');
    expect((await post('/needs', '{"name":"a","x":{"\\u005f_proto__":{"isAdmin":true}}}')).status).to.equal(400);
    expect((await post('/needs', '{"name":"a","constructor":{"prototype":{"isAdmin":true}}}')).status).to.equal(200);
    expect(({} as { isAdmin?: boolean }).isAdmin).to.equal(undefined);
  });

  it('may be nested 64 levels deep and no more', async () => {
    const nested = (levels: number): string => `{"name":"a","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await post('/needs', nested(64))).status).to.equal(200);
    expect((await post('/needs', nested(65))).status).to.equal(400);
    expect((await post('/needs', nested(300_000))).status).to.equal(400);
  });

  it('that are not UTF-8 are refused, so that no garbage is stored', async () => {
    const gbk = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), Buffer.from('"}')]);
    const head = `POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${gbk.length}\r\nConnection: close\r\n\r\n`;
    const answer = await server.raw(Buffer.concat([Buffer.from(head), gbk]));
    expect(statusOf(answer)).to.equal(400);
    expect(envelopeOf(answer).message).to.include('UTF-8');
  });

  it('may split a character between two packets', async () => {
    const text = Buffer.from('{"name":"你好"}');
    const client = await server.open();
    client.write(
      `POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`,
    );
    client.socket.setNoDelay(true);
    for (const byte of text) await new Promise((resolve) => client.socket.write(Buffer.from([byte]), resolve));
    await client.ended;
    expect(envelopeOf(client.text).data).to.deep.equal({ name: '你好', size: 1 });
  });

  it('with a byte order mark are read without it', async () => {
    expect((await post('/needs', '\ufeff{"name":"a"}')).data).to.deep.equal({ name: 'a', size: 1 });
  });

  describe('that are too large', () => {
    const json = (bytes: number): string => `{"name":"${'x'.repeat(bytes - 11)}"}`;

    it('are refused with 413, counted in bytes, at the limit of the route', async () => {
      expect((await post('/needs', json(1024 * 1024))).status).to.equal(200);
      expect(await post('/needs', json(1024 * 1024 + 1))).to.deep.include({ status: 413, code: 413, data: null });
      expect((await post('/needs', `{"name":"${'你'.repeat(400_000)}"}`)).status).to.equal(413);
      expect((await server.request('PUT', '/big', json(3 * 1024 * 1024))).status).to.equal(200);
      expect((await server.request('PUT', '/big', json(3 * 1024 * 1024 + 1))).status).to.equal(413);
    });

    it('are refused before they are read when the length says so, and the rest does no harm to the connection', async () => {
      const client = await server.open();
      client.write('POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n');
      await until('the refusal', () => statusOf(client.text) === 413);
      client.write(' '.repeat(2_000_000));
      client.write('POST /optional HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await client.ended;
      expect(client.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200']);
    });

    it('are cut off when their chunks never end', async () => {
      const client = await server.open();
      client.write('POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')]);
      let sentChunks = 0;
      while (!client.socket.destroyed && sentChunks < 200) {
        sentChunks += 1;
        await new Promise((resolve) => client.socket.write(chunk, resolve));
      }
      expect(sentChunks).to.be.within(2, 199);
      expect(statusOf(client.text)).to.equal(413);
    });
  });

  it('that end before their length leave the server well', async () => {
    const client = await server.open();
    client.write('POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na');
    client.close();
    expect((await post('/optional', '{}')).status).to.equal(200);
    expect(server.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('with broken chunks are refused with 400', async () => {
    const answer = await server.raw(
      'POST /needs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n',
    );
    expect(statusOf(answer)).to.equal(400);
  });
});
