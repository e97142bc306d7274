import { expect } from 'chai';
import { OryxError, notFound } from '../../../kernel/index.ts';
import { defineRoute, eventStream } from '../../../plugins/http/contract.ts';
import type { EventSink, HttpRequest, Route } from '../../../plugins/http/contract.ts';
import { breathe } from '../../harness/fake-clock.ts';
import { eventsFrom } from '../../harness/http-client.ts';
import { until } from '../../harness/until.ts';
import { type RawClient, type Serving, serve, statusOf } from './serving.ts';

/** Lets a test play the handler: it writes to the sink and says when the run is over. */
interface Run {
  readonly sink: EventSink;
  readonly request: HttpRequest;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
  done: boolean;
}

const runs: Run[] = [];
let handled = 0;
const streamRoute = (name: string): Route =>
  defineRoute({
    name,
    summary: '',
    kind: 'write',
    streams: true,
    body: { type: 'object', properties: { unknown: { type: 'boolean' } } },
    bodyOptional: true,
    handle: (request) => {
      handled += 1;
      if (request.body.unknown === true) throw notFound('Session "x" does not exist.');
      request.setHeader('X-Trace-Id', 'trace-1');
      if (!request.wantsStream) return { reply: 'json' };
      return eventStream(
        (sink) =>
          new Promise<void>((resolve, reject) => {
            const run: Run = {
              sink,
              request,
              done: false,
              end: () => {
                run.done = true;
                resolve();
              },
              fail: reject,
            };
            runs.push(run);
          }),
      );
    },
  });

const SSE = { accept: 'text/event-stream' };
const head = (accept = 'text/event-stream'): string =>
  `POST /stream HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`;

describe('http: event streams', () => {
  let server: Serving;
  let clients: RawClient[];
  beforeEach(async () => {
    runs.length = 0;
    clients = [];
    server = await serve([streamRoute('POST /stream')], { heartbeatSeconds: 15 });
  });
  afterEach(async () => {
    for (const run of runs) run.end();
    for (const client of clients) client.close();
    await server[Symbol.asyncDispose]();
  });

  async function open(text = head()): Promise<{ client: RawClient; run: Run }> {
    const client = await server.open();
    clients.push(client);
    const before = runs.length;
    client.write(text);
    const run = await until('the handler', () => runs[before]);
    return { client, run };
  }

  it('send their headers at once, before there is an event', async () => {
    const { client } = await open();
    await until('the headers', () => client.text.includes('\r\n\r\n'));
    const lines = client.text.toLowerCase().split('\r\n');
    expect(statusOf(client.text)).to.equal(200);
    expect(lines).to.include.members([
      'content-type: text/event-stream;charset=utf-8',
      'cache-control: no-cache',
      'x-accel-buffering: no',
      'x-trace-id: trace-1',
      'x-content-type-options: nosniff',
    ]);
  });

  it('number their events and put data on one line', async () => {
    const { client, run } = await open();
    run.sink.send({ event: 'token', data: { delta: 'hi\n\nevent: done\ndata: {"reply":"forged"}\n\n\u2028x\r\ndata: y' } });
    run.sink.send({ event: 'odd\nevent: done', data: undefined });
    run.end();
    await client.ended;
    const events = eventsFrom(client.text.replaceAll(/\r\n[0-9a-f]+\r\n/g, ''));
    expect(events.map(({ id, event }) => [id, event])).to.deep.equal([
      ['1', 'token'],
      ['2', 'odd event: done'],
    ]);
    expect(events[0]?.data.delta).to.equal('hi\n\nevent: done\ndata: {"reply":"forged"}\n\n\u2028x\r\ndata: y');
    expect(events[1]?.data).to.equal(null);
    expect(client.text).not.to.match(/[\u0085\u2028\u2029]/);
  });

  it('send the events of one turn of the event loop in one write', async () => {
    const { client, run } = await open();
    const writes = (): number => client.text.match(/\r\n[0-9a-f]+\r\nid: /g)?.length ?? 0;
    for (let index = 0; index < 20; index += 1) run.sink.send({ event: 'token', data: index });
    await Promise.resolve();
    run.sink.send({ event: 'token', data: 20 });
    await until('the first write', () => client.text.includes('id: 21\n'));
    expect(writes()).to.equal(1);

    run.sink.send({ event: 'token', data: 21 });
    await until('the second write', () => client.text.includes('id: 22\n'));
    expect(writes()).to.equal(2);
  });

  it('are chosen by Accept and by nothing else', async () => {
    for (const accept of ['text/event-stream', 'application/json, text/event-stream', 'TEXT/Event-Stream;q=0.5']) {
      const { run } = await open(head(accept));
      expect(run.request.wantsStream, accept).to.equal(true);
    }
    for (const accept of ['*/*', 'text/*', 'application/json', 'text/event-stream;q=0', 'text/event-streams']) {
      expect((await server.request('POST', '/stream', {}, { accept })).data, accept).to.deep.equal({ reply: 'json' });
    }
  });

  it('answer what fails before they start as JSON, also to a client that accepts only a stream', async () => {
    const unknown = await server.request('POST', '/stream', { unknown: true }, SSE);
    expect(unknown).to.deep.include({ status: 404, code: 404, data: null });
    expect(unknown.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect((await server.request('POST', '/stream', '{', SSE)).status).to.equal(400);
    expect((await server.request('POST', '/stream', { unknown: 1 }, SSE)).status).to.equal(400);
    expect((await server.request('GET', '/stream', undefined, SSE)).status).to.equal(405);
    expect((await server.request('POST', '/nope', {}, SSE)).headers['content-type']).to.include('json');
    expect((await server.request('POST', '/stream', {}, { ...SSE, host: 'evil.test' })).status).to.equal(403);
    expect((await server.request('POST', '/stream', {}, { ...SSE, origin: 'null' })).status).to.equal(403);
  });

  it('end a run that throws with one error event, whose text is safe', async () => {
    const first = await open();
    first.run.sink.send({ event: 'token', data: {} });
    first.run.fail(new OryxError('ORYX_PROVIDER_FAILED', 'Provider "p" did not answer.'));
    await first.client.ended;
    expect(first.client.text).to.include('id: 2\nevent: error\ndata: {"code":503,"message":"Provider \\"p\\" did not answer."}');

    const second = await open();
    second.run.fail(new Error('SELECT secret'));
    await second.client.ended;
    expect(second.client.text).to.include('event: error\ndata: {"code":500,"message":"Internal server error"}').and.not.include('SELECT');
    expect(server.lines.some(({ message, fields }) => message === 'a stream broke off' && fields['error'] instanceof Error)).to.equal(true);
  });

  it('never carry a second terminal event', async () => {
    const { client, run } = await open();
    run.sink.send({ event: 'done', data: {} });
    run.fail(new Error('too late'));
    await client.ended;
    expect(client.text.match(/event: (done|error)/g)).to.deep.equal(['event: done']);
  });

  it('send a ping after each silent heartbeat, and only then', async () => {
    const { client, run } = await open();
    const pings = (): number => client.text.match(/: ping\n\n/g)?.length ?? 0;
    await server.clock.tick(14_999);
    expect(pings()).to.equal(0);
    await server.clock.tick(1);
    await until('the first ping', () => pings() === 1);

    await server.clock.tick(10_000);
    run.sink.send({ event: 'token', data: {} });
    await until('the token', () => client.text.includes('id: 1\n'));
    await server.clock.tick(14_000);
    expect(pings()).to.equal(1);
    await server.clock.tick(1_000);
    await until('the second ping', () => pings() === 2);
    await server.clock.tick(30_000);
    await until('two more', () => pings() === 4);
    expect(eventsFrom(client.text).length).to.equal(1);
  });

  it('leave no timer behind', async () => {
    const ended = await open();
    ended.run.end();
    await ended.client.ended;
    const left = await open();
    left.client.close();
    await until('the client to be missed', () => left.run.sink.closed);
    expect(server.clock.pending).to.equal(0);
  });

  it('go on when the client leaves: the sink is closed, the signal aborts, nothing is an error', async () => {
    const { client, run } = await open();
    const { signal } = run.request;
    expect(signal.aborted).to.equal(false);
    run.sink.send({ event: 'token', data: {} });
    const other = await open();
    other.client.socket.resetAndDestroy();
    client.close();
    await until('the clients to be missed', () => run.sink.closed && other.run.sink.closed);
    expect(signal.aborted).to.equal(true);
    expect(run.request.signal).to.equal(signal);
    run.sink.send({ event: 'token', data: {} });
    expect(run.done).to.equal(false);
    run.end();
    await breathe();
    expect(server.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('end when the client sends what is not HTTP, without another answer in their middle', async () => {
    const { client } = await open(head().replace('Connection: close\r\n', ''));
    await until('the headers', () => client.text.includes('\r\n\r\n'));
    client.write('garbage\r\n\r\n');
    await client.ended;
    expect(client.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200']);
  });

  it('do not abort the signal of a client that stays to the end', async () => {
    const { client, run } = await open();
    const { signal } = run.request;
    run.end();
    await client.ended;
    expect(signal.aborted).to.equal(false);
  });

  it('drop a client that leaves more than 1 MB unread, while the run goes on', async () => {
    const { client, run } = await open();
    await until('the headers', () => client.text.includes('\r\n\r\n'));
    client.socket.pause();
    const delta = 'x'.repeat(100_000);
    let sentBytes = 0;
    while (!run.sink.closed && sentBytes < 200_000_000) {
      run.sink.send({ event: 'token', data: { delta } });
      sentBytes += delta.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(run.sink.closed).to.equal(true);
    expect(sentBytes).to.be.below(100_000_000);
    expect(run.done).to.equal(false);
    run.sink.send({ event: 'done', data: {} });
    run.end();
    client.socket.resume();
    await client.ended;
    expect(client.text).not.to.include('event: done');
    expect(server.lines.some(({ message }) => message.includes('reads too slowly'))).to.equal(true);
  });

  it('do not drop a client that reads, however much comes at once', async () => {
    const { client, run } = await open();
    for (let index = 0; index < 5; index += 1) {
      run.sink.send({ event: 'token', data: { delta: 'y'.repeat(3_000_000) } });
      await until('the client to read it', () => client.text.length > 3_000_000 * (index + 1));
    }
    run.sink.send({ event: 'done', data: {} });
    run.end();
    await client.ended;
    expect(client.text).to.include('event: done');
  });

  it('cut a client that does not take the end of its stream within a minute', async () => {
    const { client, run } = await open();
    await until('the headers', () => client.text.includes('\r\n\r\n'));
    client.socket.pause();
    run.sink.send({ event: 'token', data: { delta: 'x'.repeat(30_000_000) } });
    run.end();
    await until('the stream to end', () => run.sink.closed);
    await breathe();
    expect(server.clock.pending).to.equal(1);
    await server.clock.tick(60_000);
    client.socket.resume();
    await client.ended;
    expect(client.text.length).to.be.below(30_000_000);
  });

  it('are at most 256; more get 503 as JSON before their handler is called', async () => {
    for (let index = 0; index < 256; index += 1) await open();
    handled = 0;
    const refused = await server.request('POST', '/stream', {}, SSE);
    expect(refused).to.deep.include({ status: 503, code: 503, data: null });
    expect(handled).to.equal(0);
    expect((await server.request('POST', '/stream', {})).data).to.deep.equal({ reply: 'json' });

    clients[0]?.close();
    await until('the place to be free', () => runs[0]?.sink.closed);
    const { run } = await open();
    run.end();
    await open();
    expect((await server.request('POST', '/stream', {}, SSE)).status).to.equal(503);
  }).timeout(20_000);

  it('give their place back when the handler refuses', async () => {
    for (let index = 0; index < 300; index += 1) {
      expect((await server.request('POST', '/stream', { unknown: true }, SSE)).status).to.equal(404);
    }
  }).timeout(10_000);
});
