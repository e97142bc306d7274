import { expect } from 'chai';
import * as fc from 'fast-check';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { Claim, Disposer } from '../../../kernel/index.ts';
import { isOryxError, messageOf, refuse } from '../../../kernel/index.ts';
import { addressesOf, HttpProblem } from '../../../plugins/outside/contract.ts';
import type { HttpAnswer, HttpCall } from '../../../plugins/outside/contract.ts';
import { createHttp } from '../../../plugins/outside/http.ts';
import { addressKind } from '../../../plugins/sandbox/address-kind.ts';
import { judgeUrl } from '../../../plugins/sandbox/judge-url.ts';
import { privateRule } from '../../../plugins/sandbox/private-rule.ts';
import { breathe, fakeClock } from '../../harness/fake-clock.ts';
import type { FakeClock } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';
import { simulatedNetwork } from './simulated-network.ts';
import type { NetworkOptions, SeenRequest, SimulatedNetwork } from './simulated-network.ts';
import { testRun } from './tool-run.ts';
import type { TestRun } from './tool-run.ts';

const PUBLIC = '93.184.215.14';
type Serve = (request: SeenRequest, response: ServerResponse) => void;

interface Rig extends AsyncDisposable {
  readonly net: SimulatedNetwork;
  readonly clock: FakeClock;
  readonly test: TestRun;
  send(call?: Partial<HttpCall>, test?: TestRun): Promise<{ readonly answer: HttpAnswer; readonly text: string }>;
  /** The message of the HttpProblem that a call ends with. */
  problem(call?: Partial<HttpCall>, test?: TestRun): Promise<string>;
  close(): Promise<void>;
}

async function rig(serve: Serve, options: Partial<NetworkOptions> = {}): Promise<Rig> {
  const net = await simulatedNetwork({ dns: { 'a.test': [PUBLIC], 'b.test': ['93.184.215.15'] }, serve, ...options });
  const clock = fakeClock();
  const undo: Disposer[] = [];
  const own = (_label: string, disposer: Disposer): Disposer => (undo.push(disposer), disposer);
  const http = createHttp({ clock, own }, net.network);
  const shared = testRun();
  const send: Rig['send'] = (call = {}, test = shared) =>
    http.send({ method: 'GET', url: 'http://a.test/', ...call }, test.run, async (answer) => ({ answer, text: await all(answer.body) }));
  const close = async (): Promise<void> => {
    for (const disposer of undo) await disposer();
  };
  return {
    net,
    clock,
    test: shared,
    send,
    close,
    async problem(call, test) {
      const error = await failure(send(call, test));
      expect(error, messageOf(error)).to.be.instanceOf(HttpProblem);
      return messageOf(error);
    },
    async [Symbol.asyncDispose]() {
      await close();
      await net[Symbol.asyncDispose]();
      expect(clock.pending, 'timers that are left').to.equal(0);
    },
  };
}

async function all(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

const to =
  (location: string, status = 302): Serve =>
  (request, response) =>
    request.path === '/' ? void response.writeHead(status, { location }).end('moved') : void response.end('arrived');

describe('HTTP for tools', function () {
  this.timeout(20_000);

  it('sends method, path, headers and body, and hands out head and body', async () => {
    await using r = await rig((_, response) => void response.writeHead(201, { 'X-A': '1' }).end('hello'));
    const { answer, text } = await r.send({ method: 'PUT', url: 'http://A.test:8080/p?q=1#part', headers: { 'X-Key': 'k' }, body: 'b' });
    expect(text).to.equal('hello');
    expect(answer).to.include({ status: 201, reason: 'Created', url: 'http://a.test:8080/p?q=1' });
    expect(answer.headers['x-a']).to.equal('1');
    const [seen] = r.net.requests;
    expect(seen).to.include({ method: 'PUT', path: '/p?q=1', body: 'b', host: 'a.test:8080', address: PUBLIC });
    expect(seen?.headers).to.include({ 'x-key': 'k', 'user-agent': 'OryxOS' });
    await until('the connection to close', () => r.net.open() === 0);
  });

  describe('asks the guards', () => {
    it('about the text as it stands before anything is looked up, and again with all addresses before one is dialled', async () => {
      await using r = await rig((_, response) => void response.end(), { dns: { 'a.test': [PUBLIC, '2606:4700::1'] } });
      const seen: unknown[] = [];
      const test = testRun((claim: Claim) => {
        seen.push([claim.value, claim.access, addressesOf(claim), r.net.lookups.length, r.net.dials.length]);
        return undefined;
      });
      await r.send({ method: 'POST', url: 'HTTP://A.test./x' }, test);
      expect(seen).to.deep.equal([
        ['HTTP://A.test./x', 'write', undefined, 0, 0],
        ['http://a.test/x', 'write', [PUBLIC, '2606:4700::1'], 1, 0],
      ]);
      expect(r.net.dials).to.deep.equal([{ address: PUBLIC, port: 80 }]);
    });

    it('and looks nothing up when they refuse', async () => {
      await using r = await rig((_, response) => void response.end());
      const error = await failure(
        r.send(
          {},
          testRun(() => refuse('sandbox', 'no')),
        ),
      );
      expect(isOryxError(error) && error.code).to.equal('ORYX_REFUSED');
      expect([r.net.lookups, r.net.dials]).to.deep.equal([[], []]);
    });

    it('and dials nothing when they refuse an address', async () => {
      await using r = await rig((_, response) => void response.end(), { dns: { 'a.test': [PUBLIC, '10.0.0.1'] } });
      const test = testRun((claim) => (addressesOf(claim)?.includes('10.0.0.1') ? refuse('sandbox', 'private') : undefined));
      expect(messageOf(await failure(r.send({}, test)))).to.equal('private');
      expect(r.net.dials).to.deep.equal([]);
    });

    it('about literal addresses too, without a lookup', async () => {
      await using r = await rig((_, response) => void response.end());
      await r.send({ url: 'http://[2606:4700::1]:81/' });
      expect(r.test.claims.map(addressesOf)).to.deep.equal([undefined, ['2606:4700::1']]);
      expect(r.net.lookups).to.deep.equal([]);
      expect(r.net.dials).to.deep.equal([{ address: '2606:4700::1', port: 81 }]);
    });
  });

  it('looks a name up once: what it leads to a moment later makes no difference', async () => {
    await using r = await rig((request, response) => void response.end(request.address), { dns: { 'a.test': [[PUBLIC], ['127.0.0.1']] } });
    expect((await r.send()).text).to.equal(PUBLIC);
    expect(r.net.lookups).to.deep.equal(['a.test']);
  });

  it('checks the peer after the connection stands, of literal addresses too, and sends it nothing', async () => {
    await using r = await rig((_, response) => void response.end('SECRET'), { redirectDial: () => '127.0.0.1' });
    for (const url of ['http://a.test/', `http://${PUBLIC}/`, 'https://a.test/']) {
      const error = (await failure(r.send({ url }))) as HttpProblem;
      expect(error).to.be.instanceOf(HttpProblem);
      expect(error.blockedBy).to.equal('sandbox');
      expect(error.message).to.include('whitelist');
    }
    expect(r.net.requests).to.deep.equal([]);
  });

  it('takes the spelling of a peer for what it means', async () => {
    await using r = await rig((_, response) => void response.end('ok'), { redirectDial: (address) => `::ffff:${address}` });
    expect((await r.send()).text).to.equal('ok');
  });

  it('refuses metadata addresses by itself, whatever the guards say', async () => {
    await using r = await rig((_, response) => void response.end(), { dns: { 'a.test': [PUBLIC, '169.254.169.254'] } });
    for (const url of ['http://a.test/', 'http://169.254.169.254/', 'http://metadata.google.internal/']) {
      expect(((await failure(r.send({ url }))) as HttpProblem).blockedBy, url).to.equal('sandbox');
    }
    expect(r.net.dials).to.deep.equal([]);
  });

  it('takes no part in a proxy that the environment names', async () => {
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = 'http://127.0.0.1:9';
    try {
      await using r = await rig((_, response) => void response.end('direct'));
      expect((await r.send()).text).to.equal('direct');
    } finally {
      delete process.env['http_proxy'];
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    }
  });

  it('opens a connection for every request, so none is shared between hosts', async () => {
    await using r = await rig((request, response) => void response.end(request.host), { dns: { 'a.test': [PUBLIC], 'b.test': [PUBLIC] } });
    expect((await r.send()).text).to.equal('a.test');
    expect((await r.send({ url: 'http://b.test/' })).text).to.equal('b.test');
    expect(r.net.dials).to.have.length(2);
  });

  describe('follows redirects', () => {
    it('and has each of them judged as the first was, with its own lookup', async () => {
      await using r = await rig(to('http://b.test/end'));
      const { answer, text } = await r.send({ method: 'POST', body: '{}' });
      expect([text, answer.url]).to.deep.equal(['arrived', 'http://b.test/end']);
      expect(r.test.claims.map(({ value, access }) => `${access} ${value}`)).to.deep.equal([
        'write http://a.test/',
        'write http://a.test/',
        'write http://b.test/end',
        'write http://b.test/end',
      ]);
      expect(r.net.lookups).to.deep.equal(['a.test', 'b.test']);
    });

    it('not to where the guards say no: nothing is looked up there', async () => {
      await using r = await rig(to('http://b.test/end'));
      const test = testRun(({ value }) => (value.includes('b.test') ? refuse('sandbox', 'not listed') : undefined));
      expect(messageOf(await failure(r.send({}, test)))).to.equal('not listed');
      expect(r.net.lookups).to.deep.equal(['a.test']);
    });

    for (const status of [301, 302, 303]) {
      it(`by ${status} as GET without body and its headers`, async () => {
        await using r = await rig(to('/end', status));
        await r.send({ method: 'POST', headers: { 'Content-Type': 'text/plain', 'X-Key': 'k' }, body: 'secret' });
        const [, second] = r.net.requests;
        expect(second).to.include({ method: 'GET', path: '/end', body: '' });
        expect(second?.headers).to.include({ 'x-key': 'k' }).and.not.have.any.keys('content-type', 'content-length');
      });
    }

    for (const status of [307, 308]) {
      it(`by ${status} with method and body, on the same origin only`, async () => {
        await using r = await rig(to('/end', status));
        await r.send({ method: 'PUT', headers: { 'X-Key': 'k' }, body: 'b' });
        expect(r.net.requests[1]).to.include({ method: 'PUT', path: '/end', body: 'b' });
        await using foreign = await rig(to('http://b.test/end', status));
        expect(await foreign.problem({ method: 'PUT', body: 'b' }))
          .to.include('another origin')
          .and.include('http://b.test');
        expect(foreign.net.dials).to.have.length(1);
      });
    }

    for (const target of ['http://b.test/end', 'http://a.test:8080/end', 'https://a.test/end']) {
      it(`without what was meant for the first origin: to ${target}`, async () => {
        await using r = await rig(to(target));
        const secret = { Authorization: 's', Cookie: 's', 'Proxy-Authorization': 's', 'X-Api-Key': 's', Referer: 's' };
        await r.send({ headers: { ...secret, Accept: 'a/b', 'Accept-Language': 'de', 'User-Agent': 'u' } });
        const headers = r.net.requests[1]?.headers ?? {};
        expect(headers).to.include({ accept: 'a/b', 'accept-language': 'de', 'user-agent': 'u' });
        expect(headers).to.not.have.any.keys(...Object.keys(secret).map((name) => name.toLowerCase()));
      });
    }

    it('from https to http only when there is nothing to give away', async () => {
      await using r = await rig(to('http://a.test/end'));
      expect(await r.problem({ url: 'https://a.test/', headers: { Authorization: 's' } })).to.include('https to http');
      expect((await r.send({ url: 'https://a.test/' })).text).to.equal('arrived');
    });

    it('five times and no more', async () => {
      const counted =
        (limit: number): Serve =>
        (request, response) => {
          const n = Number(request.path.slice(1));
          if (n >= limit) return void response.end('arrived');
          return void response.writeHead(302, { location: `/${n + 1}` }).end();
        };
      await using r = await rig(counted(5));
      expect((await r.send()).text).to.equal('arrived');
      await using more = await rig(counted(6));
      expect(await more.problem()).to.include('Too many redirects');
      expect(more.net.requests).to.have.length(6);
    });

    it('only where a target is named that can be asked', async () => {
      await using none = await rig((_, response) => void response.writeHead(302).end('here'));
      expect((await none.send()).text).to.equal('here');
      await using other = await rig((_, response) => void response.writeHead(304, { location: '/x' }).end());
      expect((await other.send()).answer.status).to.equal(304);
      for (const location of ['http://', 'http://u:p@b.test/', 'file:///etc/passwd', 'gopher://b.test/']) {
        await using r = await rig(to(location));
        expect(await r.problem(), location).to.be.a('string');
        expect(r.net.dials, location).to.have.length(1);
      }
    });
  });

  describe('sends no headers', () => {
    const bad: readonly Readonly<Record<string, string>>[] = [
      ...['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Expect', 'TE', 'Keep-Alive'].map((name) => ({
        [name]: '1',
      })),
      { ':method': 'GET' },
      { 'X A': '1' },
      { 'X-A\r\nX-Evil': '1' },
      { '': '1' },
      { 'X-Ä': '1' },
      { 'X-A': '1\r\nX-Evil: 2' },
      { 'X-A': '1\nX-Evil: 2' },
      { 'X-A': 'a\0b' },
      { 'X-A': '中' },
      { 'X-A': 'x'.repeat(20_000) },
    ];
    for (const headers of bad) {
      it(`such as ${JSON.stringify(headers).slice(0, 60)}`, async () => {
        await using r = await rig((_, response) => void response.end());
        expect(await r.problem({ headers })).to.match(/^Bad headers: /);
        expect(r.net.requests).to.deep.equal([]);
      });
    }
  });

  describe('unpacks', () => {
    const plain = 'text '.repeat(1000);
    const packed = { gzip: gzipSync(plain), 'x-gzip': gzipSync(plain), br: brotliCompressSync(plain), deflate: deflateSync(plain) };
    for (const [encoding, bytes] of [
      ...Object.entries(packed),
      ['deflate', deflateRawSync(plain)] as const,
      ['identity', Buffer.from(plain)] as const,
    ]) {
      it(`${encoding} (${bytes.byteLength} bytes)`, async () => {
        await using r = await rig((_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(bytes));
        expect((await r.send()).text).to.equal(plain);
      });
    }

    it('an empty body, whatever its encoding', async () => {
      await using r = await rig((_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end());
      expect((await r.send()).text).to.equal('');
    });

    for (const encoding of ['gzip, gzip', 'br, gzip', 'zstd', 'compress']) {
      it(`but not ${encoding}`, async () => {
        await using r = await rig((_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('x')));
        expect(await r.problem()).to.include('not supported');
      });
    }

    for (const [encoding, bytes] of Object.entries(packed)) {
      it(`damaged and cut ${encoding} with a word about it`, async () => {
        await using r = await rig((request, response) => {
          const body =
            request.path === '/cut'
              ? bytes.subarray(0, bytes.length - 5)
              : Buffer.from(bytes.map((byte, at) => (at > 4 ? byte ^ 0x55 : byte)));
          response.writeHead(200, { 'content-encoding': encoding }).end(body);
        });
        for (const path of ['cut', 'damaged'])
          expect(await r.problem({ url: `http://a.test/${path}` }), path).to.include('damaged or incomplete');
      });
    }

    it('a bomb only as far as it is read', async () => {
      const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
      await using r = await rig((_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        for (let left = 256; left > 0; left -= 1) response.write(member);
        response.end();
      });
      let read = 0;
      await failure(
        createHttp({ clock: r.clock, own: () => () => {} }, r.net.network).send(
          { method: 'GET', url: 'http://a.test/' },
          r.test.run,
          async ({ body }) => {
            for await (const piece of body) {
              expect(piece.byteLength).to.be.at.most(64 * 1024);
              read += piece.byteLength;
              if (read > 1024 * 1024) throw new Error('enough');
            }
          },
        ),
      );
      expect(read).to.be.lessThan(1024 * 1024 + 64 * 1024 + 1);
    });
  });

  describe('waits', () => {
    const pending = async (r: Rig, call?: Partial<HttpCall>): Promise<{ readonly result: Promise<string> }> => {
      const result = r.problem(call);
      result.catch(() => {});
      return { result };
    };

    it('5 s for a name', async () => {
      await using r = await rig((_, response) => void response.end(), { slowDns: () => new Promise(() => {}) });
      const { result } = await pending(r);
      await r.clock.tick(5_000);
      expect(await result).to.equal('Timed out: a.test was not found within 5 s');
    });

    it('5 s for a connection', async () => {
      await using r = await rig((_, response) => void response.end(), { silent: true });
      const { result } = await pending(r);
      await until('the dial', () => r.net.dials.length === 1);
      await r.clock.tick(5_000);
      expect(await result).to.include('Timed out: no connection to a.test within 5 s');
    });

    it('10 s for the head of an answer', async () => {
      await using r = await rig(() => {});
      const { result } = await pending(r);
      await until('the request', () => r.net.requests.length === 1);
      await r.clock.tick(10_000);
      expect(await result).to.include('Timed out: a.test sent nothing for 10 s');
    });

    it('30 s for everything, even when a byte comes every second', async () => {
      let response: ServerResponse | undefined;
      await using r = await rig((_, given) => void (response = given).write('x'));
      const { result } = await pending(r);
      await until('the answer', () => response);
      for (let second = 0; second < 30; second += 1) {
        await breathe();
        response?.write('x');
        await breathe();
        await r.clock.tick(1_000);
      }
      expect(await result).to.equal('Timed out: the answer was not complete within 30 s');
      await until('the connection to close', () => r.net.open() === 0);
    });

    it('for nothing once the run has ended', async () => {
      await using r = await rig(() => {});
      const test = testRun();
      const failed = failure(r.send({}, test));
      await until('the request', () => r.net.requests.length === 1);
      test.abort(new Error('cancelled'));
      expect(messageOf(await failed)).to.equal('cancelled');
      await until('the connection to close', () => r.net.open() === 0);
      expect(messageOf(await failure(r.send({}, test)))).to.equal('cancelled');
    });

    it('for nothing once its plugin has closed', async () => {
      await using r = await rig(() => {});
      const failed = failure(r.send());
      await until('the request', () => r.net.requests.length === 1);
      await r.close();
      expect(await failed).to.be.instanceOf(HttpProblem);
    });
  });

  describe('says in words', () => {
    it('that a host does not exist or answers nothing', async () => {
      await using r = await rig((_, response) => void response.end(), { refuses: () => true });
      expect(await r.problem({ url: 'http://nobody.test/' })).to.equal('Host not found: nobody.test');
      expect(await r.problem()).to.equal('Connection to a.test failed: the connection was refused');
    });

    it('that the answer is no HTTP, too large in its head, or cut off', async () => {
      await using r = await rig(({ path }, response) => {
        if (path === '/junk') return void response.socket?.end('SSH-2.0-OpenSSH\r\n');
        if (path === '/chunk') return void response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n');
        if (path === '/head') return void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`);
        response.writeHead(200, { 'content-length': '100' }).write('part');
        return void setImmediate(() => response.destroy());
      });
      expect(await r.problem({ url: 'http://a.test/junk' })).to.include('not valid HTTP');
      expect(await r.problem({ url: 'http://a.test/chunk' })).to.include('not valid HTTP');
      expect(await r.problem({ url: 'http://a.test/head' })).to.include('headers of the answer are too large');
      expect(await r.problem({ url: 'http://a.test/cut' })).to.match(/closed before|reset/);
    });
  });

  it('passes on what its user throws, and closes the connection', async () => {
    await using r = await rig((_, response) => void response.write('endless'));
    const http = createHttp({ clock: r.clock, own: () => () => {} }, r.net.network);
    const error = await failure(http.send({ method: 'GET', url: 'http://a.test/' }, r.test.run, () => Promise.reject(new Error('mine'))));
    expect(messageOf(error)).to.equal('mine');
    await until('the connection to close', () => r.net.open() === 0);
  });

  it('reaches only what the list and the addresses allow, for random URLs, names and redirects', async () => {
    const hosts = [
      'ok.test',
      'a.ok.test',
      'evil.test',
      'localhost',
      '127.0.0.1',
      '10.0.0.7',
      '[::1]',
      '[::ffff:7f00:1]',
      PUBLIC,
      '2130706433',
      'ok.test.',
      'OK.test',
    ];
    const addresses = [
      PUBLIC,
      '8.8.8.8',
      '2606:4700::1',
      '127.0.0.1',
      '10.0.0.7',
      '::1',
      '::ffff:10.0.0.7',
      '169.254.169.254',
      '198.18.0.3',
      'fd00::1',
      '0.0.0.0',
    ];
    const rules = {
      allowed: ['ok.test', '*.ok.test', '10.0.0.7', '127.0.0.1:80', PUBLIC],
      readPolicy: 'whitelist',
      allowedPrivate: [privateRule('10.0.0.7')],
      isOwn: () => false,
    } as const;
    const url = fc
      .tuple(
        fc.constantFrom('http:', 'http:', 'https:', 'http:/', 'HTTP:'),
        fc.constantFrom('', '', '', 'u@', 'ok.test@'),
        fc.constantFrom('ok.test', 'a.ok.test', ...hosts),
        fc.constantFrom('', '', ':80', ':22', ':8080'),
        fc.constantFrom('/', '/x', '\\@ok.test', '#ok.test', '?ok.test'),
      )
      .map(([scheme, user, host, port, rest]) => `${scheme}//${user}${host}${port}${rest}`);
    const dns = fc.record({
      'ok.test': fc.oneof(fc.array(fc.constantFrom(...addresses), { minLength: 1, maxLength: 3 }), fc.constant([PUBLIC])),
      'a.ok.test': fc.oneof(fc.array(fc.constantFrom(...addresses), { minLength: 1, maxLength: 3 }), fc.constant(['10.0.0.7'])),
      'evil.test': fc.constant([PUBLIC]),
      localhost: fc.constant(['127.0.0.1']),
    });
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(url, url, dns, async (first, second, names) => {
        await using r = await rig((request, response) => to(second)({ ...request, path: request.path === '/x' ? '/' : '/end' }, response), {
          dns: names,
        });
        const test = testRun((claim) => judgeUrl({ text: claim.value, access: 'read', addresses: addressesOf(claim) }, rules));
        await r.send({ url: first }, test).catch(() => {});
        for (const { address } of r.net.dials)
          expect(addressKind(address) === 'public' || address === '10.0.0.7' || address === '::ffff:10.0.0.7', address).to.equal(true);
        for (const { host, port } of r.net.requests) {
          expect(['ok.test', 'a.ok.test', '10.0.0.7', PUBLIC], host).to.include(host.replace(/:\d+$/, ''));
          expect(port).to.not.equal(22);
        }
        reached += r.net.requests.length;
      }),
      { numRuns: 300 },
    );
    expect(reached).to.be.greaterThan(20);
  });
});
