import { expect } from 'chai';
import { definePlugin } from '../../../kernel/index.ts';
import { defineRoute, eventStream } from '../../../plugins/http/contract.ts';
import type { Route } from '../../../plugins/http/contract.ts';
import { breathe } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';
import { type Serving, serve } from './serving.ts';

const says = (name: string, answer: unknown): Route => defineRoute({ name, summary: '', kind: 'read', handle: () => answer });

describe('http: routes at run time', () => {
  let server: Serving;
  beforeEach(async () => {
    server = await serve([says('GET /first', 1)]);
  });
  afterEach(() => server[Symbol.asyncDispose]());
  const get = async (path: string) => {
    const { status, data } = await server.request('GET', path);
    return [status, data];
  };

  it('come and go while the server runs', async () => {
    expect(await get('/second')).to.deep.equal([404, null]);
    const registration = server.ctx.register('route', says('GET /second', 2));
    expect(await get('/second')).to.deep.equal([200, 2]);
    registration.replace(says('GET /second', 3));
    expect(await get('/second')).to.deep.equal([200, 3]);
    await registration();
    expect(await get('/second')).to.deep.equal([404, null]);
    expect(await get('/first')).to.deep.equal([200, 1]);
  });

  it('leave with their plugin', async () => {
    await server.kernel.load(definePlugin({ name: 'guest', setup: (ctx) => void ctx.register('route', says('GET /guest', 'hi')) }));
    expect(await get('/guest')).to.deep.equal([200, 'hi']);
    await server.kernel.unload('guest');
    expect(await get('/guest')).to.deep.equal([404, null]);
  });

  it('are answered without a gap while their plugin is replaced', async () => {
    const guest = (answer: number) =>
      definePlugin({ name: 'guest', setup: (ctx) => void ctx.register('route', says('GET /guest', answer)) });
    await server.kernel.load(guest(0));
    const replaced = new AbortController();
    const statuses = new Set<unknown>();
    const poll = (async () => {
      while (!replaced.signal.aborted) statuses.add((await get('/guest'))[0]);
    })();
    for (let generation = 1; generation <= 20; generation += 1) await server.kernel.replace(guest(generation));
    replaced.abort();
    await poll;
    expect([...statuses]).to.deep.equal([200]);
    expect(await get('/guest')).to.deep.equal([200, 20]);
  });

  it('that cannot be served are left out and reported with their owner; the others are served', async () => {
    server.ctx.register('route', says('FETCH /x', 1));
    server.ctx.register('route', says('GET /a/{x}', 'the earlier one'));
    server.ctx.register('route', says('GET /a/{y}', 'the later one'));
    expect(await get('/a/b')).to.deep.equal([200, 'the earlier one']);
    expect(await get('/first')).to.deep.equal([200, 1]);
    const reports = server.lines.filter(({ message }) => message === 'a route cannot be served').map(({ fields }) => fields);
    expect(reports.map(({ route, owner }) => [route, owner])).to.deep.equal([
      ['FETCH /x', 'routes'],
      ['GET /a/{y}', 'routes'],
    ]);
  });

  it('may hold characters that routers take for syntax', async () => {
    for (const path of ['/swagger-ui.html', '/a(b)', '/a*b', '/a+b', '/a:b', '/a[b]', '/a!b', "/a'b"]) {
      server.ctx.register('route', says(`GET ${path}`, path));
      expect(await get(path), path).to.deep.equal([200, path]);
    }
    expect(await get('/swagger-uixhtml')).to.deep.equal([404, null]);
  });

  it('with a schema that is not valid fail as our fault, not as the client’s', async () => {
    server.ctx.register('route', { ...says('GET /bad', 1), query: { type: 'no-such-type' } });
    expect((await get('/bad'))[0]).to.equal(500);
    expect(await get('/first')).to.deep.equal([200, 1]);
  });

  it('hold their plugin in place until the handler has ended', async () => {
    let finish: (answer: string) => void = () => {};
    let entered = false;
    const slow = defineRoute({
      name: 'GET /slow',
      summary: '',
      kind: 'read',
      handle: () => {
        entered = true;
        return new Promise<string>((resolve) => {
          finish = resolve;
        });
      },
    });
    await server.kernel.load(definePlugin({ name: 'guest', setup: (ctx) => void ctx.register('route', slow) }));
    const answer = server.request('GET', '/slow');
    await until('the handler', () => entered);
    let unloaded = false;
    const unloading = server.kernel.unload('guest').then(() => {
      unloaded = true;
    });
    await breathe();
    expect(unloaded).to.equal(false);
    finish('finished');
    expect((await answer).data).to.equal('finished');
    await unloading;
  });

  it('hold their plugin in place until the stream has ended', async () => {
    let finish: () => void = () => {};
    let closedDuring = false;
    const stream = defineRoute({
      name: 'POST /stream',
      summary: '',
      kind: 'write',
      streams: true,
      handle: () =>
        eventStream(async (sink) => {
          sink.send({ event: 'trace', data: {} });
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
          closedDuring = sink.closed;
          sink.send({ event: 'done', data: {} });
        }),
    });
    await server.kernel.load(definePlugin({ name: 'guest', setup: (ctx) => void ctx.register('route', stream) }));
    const client = await server.open();
    client.write('POST /stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n');
    await until('the stream', () => client.text.includes('event: trace'));
    client.close();
    let unloaded = false;
    const unloading = server.kernel.unload('guest').then(() => {
      unloaded = true;
    });
    await breathe();
    expect(unloaded).to.equal(false);
    finish();
    await unloading;
    expect(closedDuring).to.equal(true);
  });
});
