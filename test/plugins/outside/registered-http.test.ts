import { getEventListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { isOryxError } from '../../../kernel/index.ts';
import { type Outgoing, outgoing } from '../../adapters/provider/outgoing.ts';
import { breathe } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';

const LIMITS = { connectTimeoutMs: 10_000, readTimeoutMs: 120_000 };
const never = (): AbortSignal => new AbortController().signal;
const get = (url: string, signal = never()) => ({ method: 'GET', url, headers: {}, signal, ...LIMITS }) as const;

async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it did not fail');
}

async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('HTTP for URLs that administrators registered', function () {
  this.timeout(20_000);
  let server: Server;
  let origin: string;
  let connections: number;
  let answer: Parameters<typeof createServer>[1];
  let out: Outgoing;

  beforeEach(async () => {
    connections = 0;
    answer = (_request, response) => response.end('hello');
    server = createServer((request, response) => answer?.(request, response as never));
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    out = outgoing();
  });
  afterEach(async () => {
    await out.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  describe('refuses to register', () => {
    const refused = {
      'not a url': 'valid URL',
      '': 'valid URL',
      'file:///etc/passwd': 'http://',
      'gopher://x/': 'http://',
      'ftp://x/': 'http://',
      'http://u:p@h/': 'user name',
      'http://u@h/': 'user name',
      'http://169.254.169.254/': 'metadata',
      'http://169.254.170.2/': 'metadata',
      'http://2852039166/': 'metadata',
      'http://0xA9.0xFE.0xA9.0xFE/': 'metadata',
      'http://0251.0376.0251.0376/': 'metadata',
      'http://[::ffff:169.254.169.254]/': 'metadata',
      'http://[::169.254.169.254]/': 'metadata',
      'http://[64:ff9b::a9fe:a9fe]/': 'metadata',
      'http://[2002:a9fe:a9fe::1]/': 'metadata',
      'http://[fd00:ec2::254]/': 'metadata',
      'http://[fe80::1]/': 'metadata',
      'http://100.100.100.200/': 'metadata',
      'http://168.63.129.16/': 'metadata',
      'http://metadata.google.internal/': 'metadata',
      'http://METADATA.google.internal./': 'metadata',
    };
    for (const [url, reason] of Object.entries(refused)) {
      it(`"${url}"`, async () => {
        expect(out.http.refusal(url)).to.include(reason);
        const error = await errorOf(out.http.request(get(url)));
        expect(isOryxError(error) && error.code).to.equal('ORYX_REFUSED');
      });
    }

    for (const url of [
      'http://127.0.0.1:11434/v1',
      'http://localhost',
      'http://10.0.0.5/',
      'http://[::1]:8000',
      'https://api.deepseek.com',
      'http://100.100.100.201',
    ]) {
      it(`but not ${url}: local models are a main use`, () => expect(out.http.refusal(url)).to.equal(undefined));
    }
  });

  it('never dials a name behind which a metadata address stands, even beside a good one', async () => {
    await out.close();
    out = outgoing((_host, _options, done) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '169.254.169.254', family: 4 },
      ]),
    );
    const error = await errorOf(out.http.request(get(origin.replace('127.0.0.1', 'innocent.test'))));
    expect(isOryxError(error) && error.code).to.equal('ORYX_REFUSED');
    expect(error.message).to.include('innocent.test');
    expect(connections).to.equal(0);
  });

  it('reaches a name through its addresses', async () => {
    await out.close();
    out = outgoing((_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]));
    const { status, body } = await out.http.request(get(origin.replace('127.0.0.1', 'model.test')));
    expect([status, await text(body)]).to.deep.equal([200, 'hello']);
  });

  it('sends method, path with query, headers and body as given', async () => {
    const seen: unknown[] = [];
    answer = async (request, response) => {
      seen.push(request.method, request.url, request.headers['x-a'], await text(request));
      response.end();
    };
    const { body } = await out.http.request({ ...get(`${origin}/a%20b?c=d`), method: 'POST', headers: { 'x-a': '1' }, body: 'ü' });
    await text(body);
    expect(seen).to.deep.equal(['POST', '/a%20b?c=d', '1', 'ü']);
  });

  it('gives headers by lower-case name, repeated ones joined', async () => {
    answer = (_request, response) => {
      response.setHeader('X-Many', ['a', 'b']);
      response.end();
    };
    const { headers, body } = await out.http.request(get(origin));
    await text(body);
    expect(headers['x-many']).to.equal('a, b');
  });

  it('hands out a redirect instead of following it', async () => {
    const paths: (string | undefined)[] = [];
    answer = (request, response) => {
      paths.push(request.url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    };
    const { status, headers, body } = await out.http.request(get(`${origin}/here`));
    await text(body);
    expect([status, headers['location']]).to.deep.equal([302, '/elsewhere']);
    expect(paths).to.deep.equal(['/here']);
  });

  it('refuses a header that would smuggle another one', async () => {
    const error = await errorOf(out.http.request({ ...get(origin), headers: { 'x-a': '1\r\nx-b: 2' } }));
    expect(error.message).to.include('header');
  });

  it('uses one connection for requests that follow each other, and more only side by side', async () => {
    for (let count = 0; count < 10; count += 1) await text((await out.http.request(get(origin))).body);
    expect(connections).to.equal(1);
    await Promise.all(Array.from({ length: 3 }, async () => text((await out.http.request(get(origin))).body)));
    expect(connections).to.be.at.most(3);
  });

  it('uses the connection again when the rest of a body was not wanted', async () => {
    answer = async (_request, response) => {
      response.write('a');
      await breathe();
      response.end('b');
    };
    for (let count = 0; count < 3; count += 1) {
      const { body } = await out.http.request(get(origin));
      for await (const _ of body) break;
    }
    expect(connections).to.equal(1);
  });

  it('gives up the connection of a body that nobody wants and that does not end', async () => {
    let isGone = false;
    answer = (_request, response) => {
      response.on('close', () => {
        isGone = true;
      });
      response.write('a');
    };
    const { body } = await out.http.request(get(origin));
    const left = (async () => {
      for await (const _ of body) break;
    })();
    await until('the server notices', async () => {
      await out.clock.tick(250);
      return isGone;
    });
    await left;
  });

  it('does not read a huge body that nobody wants', async () => {
    answer = (_request, response) => {
      response.write('a');
      response.end(Buffer.alloc(50_000_000));
    };
    const { body } = await out.http.request(get(origin));
    for await (const _ of body) break;
    const again = await out.http.request(get(origin));
    expect(again.status).to.equal(200);
  });

  it('holds the sender back while the reader is slow, and does not take that for silence', async () => {
    const TOTAL = 64 * 1024 * 1024;
    let sent = 0;
    answer = (_request, response) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (sent < TOTAL) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const { body } = await out.http.request(get(origin));
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    await until('the sender is held back', async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return sent === before;
    });
    expect(sent).to.be.lessThan(TOTAL / 2);
    await out.clock.tick(500_000);
    let read = 64 * 1024;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) read += next.value.length;
    expect(read).to.be.at.least(TOTAL);
  });

  it('closes connections of an origin that has had no request for a minute', async () => {
    await text((await out.http.request(get(origin))).body);
    expect(out.clock.pending).to.equal(1);
    await out.clock.tick(59_000);
    await text((await out.http.request(get(origin))).body);
    await out.clock.tick(59_000);
    expect(connections).to.equal(1);
    await out.clock.tick(1_000);
    expect(out.clock.pending).to.equal(0);
    await until('the connection is closed', () => new Promise((resolve) => server.getConnections((_, count) => resolve(count === 0))));
    await text((await out.http.request(get(origin))).body);
    expect(connections).to.equal(2);
  });

  it('ends what is under way and refuses what comes when it is closed', async () => {
    answer = () => {};
    const underWay = errorOf(out.http.request(get(origin)));
    await until('the request arrives', () => connections === 1);
    await out.close();
    await underWay;
    const error = await errorOf(out.http.request(get(origin)));
    expect(isOryxError(error) && error.code).to.equal('ORYX_STOPPING');
    expect(out.clock.pending).to.equal(0);
  });

  it('leaves no listener on the signal of a request that has ended', async () => {
    const { signal } = new AbortController();
    await text((await out.http.request(get(origin, signal))).body);
    answer = (_request, response) => void response.destroy();
    await errorOf(out.http.request(get(origin, signal)));
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('names an abort AbortError, with its reason as cause', async () => {
    answer = () => {};
    const controller = new AbortController();
    const failed = errorOf(out.http.request(get(origin, controller.signal)));
    await until('the request arrives', () => connections === 1);
    const reason = new Error('because');
    controller.abort(reason);
    const error = await failed;
    expect([error.name, error.cause]).to.deep.equal(['AbortError', reason]);
    expect((await errorOf(out.http.request(get(origin, controller.signal)))).name).to.equal('AbortError');
  });
});
