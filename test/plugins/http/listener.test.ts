import { expect } from 'chai';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createKernel, definePlugin, systemClock } from '../../../kernel/index.ts';
import type { KernelHost, LogLine, Logger } from '../../../kernel/index.ts';
import http from '../../../plugins/http/index.ts';
import { defineRoute, eventStream } from '../../../plugins/http/contract.ts';
import { Listener } from '../../../plugins/http/listener.ts';
import { breathe, fakeClock } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';
import { type RawClient, type Serving, envelopeOf, rawClient, secrets, serve, statusOf } from './serving.ts';

/** A kernel whose log lines nobody reads. */
async function quietKernel(): Promise<KernelHost> {
  const kernel = createKernel({ clock: fakeClock(), services: { secrets } });
  await kernel.load(definePlugin({ name: 'quiet', setup: (ctx) => void ctx.register('logSink', { name: 'quiet', write: () => {} }) }));
  return kernel;
}

async function loaded(config: Readonly<Record<string, unknown>>): Promise<KernelHost> {
  const kernel = await quietKernel();
  const status = await kernel.load(http, config);
  if (status.error) throw status.error;
  return kernel;
}

async function listenError(config: Readonly<Record<string, unknown>>): Promise<{ code: string; message: string }> {
  await using kernel = await loaded(config);
  try {
    await kernel.service('http').listen();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('the server listens although it should not');
}

describe('http: listening', () => {
  it('says which port is in use and what to do', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as AddressInfo;
    const error = await listenError({ port });
    await new Promise((resolve) => squatter.close(resolve));
    expect(error.code).to.equal('ORYX_CONFIG');
    expect(error.message).to.include(`Port ${port} on 127.0.0.1 is in use`).and.include('server.port');
  });

  it('says which host is not an address of the machine', async () => {
    for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
      const error = await listenError({ port: 0, host });
      expect(error.code).to.equal('ORYX_CONFIG');
      expect(error.message).to.include(`"${host}"`).and.include('server.host');
    }
  });

  it('refuses a configuration that cannot work', async () => {
    for (const config of [{ port: 70_000 }, { port: -1 }, { host: '' }, { allowedHosts: ['https://x.example'] }, { heartbeatSeconds: 0 }]) {
      const kernel = await quietKernel();
      expect((await kernel.load(http, config)).error, JSON.stringify(config)).to.have.property('code', 'ORYX_PLUGIN_CONFIG');
      await kernel.close();
    }
  });

  it('tells its address, and tells it late comers too', async () => {
    await using kernel = await loaded({ port: 0 });
    const server = kernel.service('http');
    const heard: string[] = [];
    void server.onListening(({ url }) => void heard.push(`early ${url}`));
    const undo = server.onListening(() => void heard.push('undone'));
    await undo();
    expect(server.address).to.equal(undefined);

    const address = await server.listen();
    expect(address).to.deep.equal({ host: '127.0.0.1', port: address.port, url: `http://127.0.0.1:${address.port}` });
    expect(server.address).to.equal(address);
    void server.onListening(({ url }) => void heard.push(`late ${url}`));
    expect(heard).to.deep.equal([`early ${address.url}`, `late ${address.url}`]);
  });

  it('waits for those who want to know the address, and survives their failures', async () => {
    await using kernel = await loaded({ port: 0 });
    let done = false;
    void kernel.service('http').onListening(async () => {
      await breathe();
      done = true;
    });
    void kernel.service('http').onListening(() => {
      throw new Error('disk full');
    });
    await kernel.service('http').listen();
    expect(done).to.equal(true);
  });

  it('warns once, and only when other machines can reach it, that there is no authentication', async () => {
    const open = await serve([], { host: '0.0.0.0' });
    const { warnings, address } = open.kernel.service('http');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('no authentication').and.include(`0.0.0.0:${open.port}`);
    expect(address?.url).to.equal(`http://127.0.0.1:${open.port}`);
    expect(open.lines.filter(({ level }) => level === 'warn')).to.have.length(1);
    expect((await open.request('GET', '/', undefined, { host: '10.1.2.3' })).status).to.equal(404);
    await open[Symbol.asyncDispose]();

    for (const host of ['127.0.0.1', 'localhost']) {
      await using closed = await serve([], { host });
      expect(closed.kernel.service('http').warnings).to.deep.equal([]);
      expect(closed.lines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
    }
  });

  it('answers to the names of server.allowed-hosts', async () => {
    await using server = await serve([], { allowedHosts: ['oryx.example.com'] });
    const headers = { host: 'oryx.example.com', origin: 'https://oryx.example.com' };
    expect((await server.request('GET', '/', undefined, headers)).status).to.equal(404);
    expect((await server.request('GET', '/', undefined, { host: 'other.example.com' })).status).to.equal(403);
  });
});

describe('http: closing', () => {
  let server: Serving;
  const finishers: ((answer: unknown) => void)[] = [];
  const finish = (answer: unknown): void => {
    for (const end of finishers.splice(0)) end(answer);
  };
  let entered: number;
  beforeEach(async () => {
    entered = 0;
    const wait = () => {
      entered += 1;
      return new Promise<unknown>((resolve) => void finishers.push(resolve));
    };
    server = await serve([
      defineRoute({ name: 'GET /slow', summary: '', kind: 'read', handle: wait }),
      defineRoute({ name: 'GET /quick', summary: '', kind: 'read', handle: () => 1 }),
      defineRoute({
        name: 'GET /stream',
        summary: '',
        kind: 'read',
        streams: true,
        handle: () =>
          eventStream(async (sink) => {
            sink.send({ event: 'trace', data: {} });
            await wait();
            sink.send({ event: 'done', data: {} });
          }),
      }),
    ]);
  });
  afterEach(async () => {
    finish(null);
    await server[Symbol.asyncDispose]();
  });

  const asking = async (path: string, headers = ''): Promise<RawClient> => {
    const client = await server.open();
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    return client;
  };

  it('ends idle connections at once and lets nobody in', async () => {
    const idle = await server.open();
    const kept = await asking('/quick');
    await until('the answer', () => kept.text.includes('success'));
    await server.kernel.unload('http');
    await Promise.all([idle.ended, kept.ended]);
    expect(await rawClient(server.port).catch((error: unknown) => (error as NodeJS.ErrnoException).code)).to.equal('ECONNREFUSED');
    expect(server.clock.pending).to.equal(0);
  });

  it('waits for answers in flight and ends their connections with them', async () => {
    const client = await asking('/slow');
    await until('the handler', () => entered === 1);
    const unloading = server.kernel.unload('http');
    await breathe();
    finish('finished');
    await unloading;
    await client.ended;
    expect(statusOf(client.text)).to.equal(200);
    expect(client.text.toLowerCase()).to.include('connection: close');
    expect(envelopeOf(client.text).data).to.equal('finished');
  });

  it('after 10 s answers 503 to who still waits and ends streams with an error event', async () => {
    const json = await asking('/slow');
    const stream = await asking('/stream', 'Accept: text/event-stream\r\n');
    await until('the handlers', () => entered === 2 && stream.text.includes('event: trace'));
    const unloading = server.kernel.unload('http');
    await breathe();
    await server.clock.tick(9_999);
    expect(json.text).to.equal('');
    await server.clock.tick(1);
    await Promise.all([json.ended, stream.ended]);
    await unloading;
    expect(envelopeOf(json.text)).to.deep.include({ code: 503, data: null });
    expect(stream.text).to.include('id: 2\nevent: error\ndata: {"code":503,');
    finish('too late');
    await breathe();
    expect(server.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('http: clients that take their time', () => {
  const lines: Pick<LogLine, 'level' | 'message'>[] = [];
  const log = Object.fromEntries(
    (['debug', 'info', 'warn', 'error'] as const).map((level) => [level, (message: string) => lines.push({ level, message })]),
  ) as unknown as Logger;
  let listener: Listener;
  let port: number;
  let answer: string;
  before(async () => {
    listener = new Listener({
      host: '127.0.0.1',
      port: 0,
      // A handler that waits for the body, as every handler of a route with a body does.
      handler: async (request, response) => {
        for await (const _chunk of request) answer += 'x';
        response.end('answered');
      },
      endStreams: () => undefined,
      clock: systemClock(),
      log,
      timeouts: { headersMs: 100, requestMs: 200, checkMs: 20, keepAliveMs: 100 },
    });
    ({ port } = await listener.listen());
  });
  after(() => listener.close());
  beforeEach(() => {
    answer = '';
  });

  it('with their headers are cut off', async () => {
    const client = await rawClient(port);
    client.write('GET / HTTP/1.1\r\nHost: local');
    await client.ended;
    expect(statusOf(client.text)).to.equal(408);
    expect(envelopeOf(client.text)).to.deep.include({ code: 408, data: null });
  });

  it('with their body are cut off', async () => {
    const client = await rawClient(port);
    client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nab');
    await client.ended;
    expect(statusOf(client.text)).to.equal(408);
  });

  it('with their next request are cut off without a word', async () => {
    const client = await rawClient(port);
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await client.ended;
    expect(client.text).to.match(/^HTTP\/1\.1 200[^]*answered$/);
  });

  it('do not keep others waiting', async () => {
    const slow = await Promise.all(Array.from({ length: 200 }, () => rawClient(port)));
    for (const client of slow) client.write('GET / HTTP/1.1\r\nX: ');
    const quick = await rawClient(port);
    quick.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await quick.ended;
    expect(quick.text).to.include('answered');
    await Promise.all(slow.map(({ ended }) => ended));
  });
});
