/** What every notify adapter promises; run by the test of each. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { NotifyAdapter, NotifyOutcome, NotifyTarget } from '../../kernel/index.ts';
import { type Outgoing, outgoing } from '../harness/outgoing.ts';
import { type ReceivedRequest, type Receiver, type ReceiverReply, startReceiver } from '../harness/receiver.ts';
import { until } from '../harness/until.ts';

/** The receiver that an adapter speaks to, as far as the suite needs one. */
export interface NotifyReceiver {
  /** Path and query of its URL, with a key in it as the real one has. */
  readonly path: string;
  /** The configuration of a channel, with every secret that there can be. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Takes a message as the real one does: what it answers, and the content that it has taken. */
  take(request: ReceivedRequest): { readonly content?: string; readonly reply: ReceiverReply };
}

type Failure = Extract<NotifyOutcome, { ok: false }>;

const AWKWARD = 'line 1\r\n\tline 2 "quoted" \\ / <b> & {"a":1} ünïcödé 报告 🦌 \u2028 \u0007 end';

/** @param receiver  is started anew for each test; the suite closes it */
export function notifyAdapterContract(name: string, adapter: NotifyAdapter, receiver: NotifyReceiver): void {
  describe(`the ${name} adapter keeps the contract`, function () {
    this.timeout(20_000);
    const sizeOf = (content: string): number => adapter.sizeOf?.(content) ?? Buffer.byteLength(content);
    let server: Receiver;
    let out: Outgoing;
    let taken: string[];
    beforeEach(async () => {
      taken = [];
      server = await startReceiver((request) => {
        const { content, reply } = receiver.take(request);
        if (content !== undefined) taken.push(content);
        return reply;
      });
      out = outgoing();
    });
    afterEach(async () => {
      await out[Symbol.asyncDispose]();
      await server.close();
    });

    const targetAt = (origin: string): NotifyTarget => ({ channel: 'c', url: `${origin}${receiver.path}`, config: receiver.config });
    function send(content = 'hello', signal = new AbortController().signal, origin = server.origin): Promise<NotifyOutcome> {
      return adapter.send({ content, key: 'k-1', at: out.clock.now() }, targetAt(origin), out.http, signal);
    }
    async function failure(outcome: Promise<NotifyOutcome> = send()): Promise<Failure> {
      const result = await outcome;
      if (result.ok) throw new Error('it was sent');
      expect(result.message).to.have.length.within(1, 399);
      for (const secret of secretsIn(receiver)) expect(result.message).to.not.include(secret);
      expect(result.message).to.not.match(/127\.0\.0\.1|:\/\//);
      return result;
    }

    it('is registered under a name that can be the type of a channel', () => {
      expect(adapter.name).to.match(/^[a-z][a-z0-9-]*$/);
    });

    it('sends the content as it is, in one request', async () => {
      expect(await send(AWKWARD)).to.deep.equal({ ok: true });
      expect(taken).to.deep.equal([AWKWARD]);
      expect(server.requests.map(({ method }) => method)).to.deep.equal(['POST']);
    });

    it('measures sizes that grow with the text, and a message of the largest size is taken', async () => {
      const { maxSize } = adapter;
      for (const piece of ['a', '"', '报', '🦌', '\n', '\u0007']) expect(sizeOf(`${AWKWARD}${piece}`)).to.be.above(sizeOf(AWKWARD));
      if (maxSize === undefined) return;
      for (const piece of ['a', '"', '报', '🦌', '\u0007']) {
        const step = sizeOf(`${piece}${piece}`) - sizeOf(piece);
        const content = piece.repeat(Math.floor((maxSize - sizeOf('')) / step));
        expect(sizeOf(content))
          .to.be.at.most(maxSize)
          .and.above(maxSize - step);
        expect(await send(content), `${content.length} times ${JSON.stringify(piece)}`).to.deep.equal({ ok: true });
        expect(taken.at(-1)).to.equal(content);
      }
    });

    it('says what the receiver refuses, with its code', async () => {
      for (const status of [400, 401, 403, 404, 413, 422]) {
        server.will({ status, body: '{"message":"not like this"}' });
        const { kind, code, message } = await failure();
        expect({ kind, code }).to.deep.equal({ kind: 'refused', code: String(status) });
        expect(message).to.include(String(status));
      }
    });

    it('may be tried later when the receiver is busy, and says when', async () => {
      for (const status of [408, 425, 429, 500, 502, 503, 504]) {
        server.will({ status, body: '<html>gateway</html>' });
        const busy = await failure();
        expect(busy.kind, String(status)).to.equal('later');
        expect(busy.message).to.not.include('<');
      }
      server.will({ status: 429, headers: { 'retry-after': '7' } });
      expect(await failure()).to.include({ kind: 'later', retryAfterMs: 7_000 });
      server.will({ status: 503, headers: { date: 'Mon, 30 Nov 2026 00:00:00 GMT', 'retry-after': 'Mon, 30 Nov 2026 00:01:30 GMT' } });
      expect(await failure()).to.include({ kind: 'later', retryAfterMs: 90_000 });
      server.will({ status: 503, headers: { 'retry-after': 'soon' } });
      expect(await failure()).to.not.have.property('retryAfterMs');
    });

    it('does not follow redirects, and says so', async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        server.will({ status, headers: { location: `${server.origin}/elsewhere` } });
        const { kind, message } = await failure();
        expect(kind).to.equal('refused');
        expect(message).to.include('redirects are not followed');
      }
      expect(server.requests.map(({ path }) => path)).to.not.include('/elsewhere');
    });

    it('may be tried later when nothing was sent', async () => {
      const { origin } = server;
      await server.close();
      expect(await failure(send('hello', undefined, origin))).to.have.property('kind', 'later');
      const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
      await using nowhere = outgoing((_host, _options, done) => done(notFound, []));
      out = nowhere;
      expect(await failure(send('hello', undefined, 'http://robot.test'))).to.have.property('kind', 'later');
    });

    it('may be tried later when no connection comes about in 10 s', async () => {
      await using silent = outgoing(() => {});
      out = silent;
      const sent = send('hello', undefined, 'http://robot.test');
      await until('the deadline', () => silent.clock.pending === 1);
      await silent.clock.tick(9_999);
      expect(silent.clock.pending).to.equal(1);
      await silent.clock.tick(1);
      expect(await failure(sent)).to.have.property('kind', 'later');
    });

    it('never calls an address that hands out credentials of the machine', async () => {
      expect(await failure(send('hello', undefined, 'http://169.254.169.254'))).to.have.property('kind', 'refused');
    });

    it('does not know when the connection is cut after the request', async () => {
      server.will('cut');
      expect(await failure()).to.have.property('kind', 'unknown');
    });

    it('does not know when no answer comes in 20 s', async () => {
      server.will('hang');
      const sent = send();
      await server.received(1);
      await out.clock.tick(20_000);
      expect(await failure(sent)).to.have.property('kind', 'unknown');
    });

    it('ends at once when it is broken off, and sends nothing when it already was', async () => {
      const controller = new AbortController();
      server.will('hang');
      const sent = send('hello', controller.signal);
      await server.received(1);
      controller.abort();
      expect(await failure(sent)).to.have.property('kind', 'unknown');
      expect(await failure(send('hello', controller.signal))).to.have.property('kind', 'later');
      expect(server.requests).to.have.length(1);
      expect(getEventListeners(controller.signal, 'abort')).to.deep.equal([]);
    });

    it('shows nothing of the URL and the configuration, whatever the receiver says', async () => {
      const all = [`${server.origin}${receiver.path}`, receiver.path, ...secretsIn(receiver)];
      for (const text of [...all, all.join(' '), all.join('')]) {
        server.will({ status: 400, body: JSON.stringify({ message: text }) }, { status: 400, body: text });
        await failure();
        await failure();
      }
    });

    it('cuts what the receiver says to one line of 200 characters', async () => {
      server.will({ status: 400, body: JSON.stringify({ message: `one\r\ntwo\u001b[31m ${'🦌'.repeat(4_000)}` }) });
      const { message } = await failure();
      expect(message)
        .to.include('one two')
        .and.not.match(/[\p{Cc}\ud800-\udbff]…/u);
      expect(message).to.not.match(/\p{Cc}/u);
    });

    it('bears any answer', async () => {
      for (const body of ['', 'null', '[]', '"ok"', '{', '<html>', '\u0000', 'x'.repeat(1024 * 1024)]) {
        server.will({ body }, { status: 400, body }, { status: 500, body });
        for (let round = 0; round < 3; round += 1)
          expect(await send())
            .to.have.property('ok')
            .that.is.a('boolean');
      }
    });

    it('does not wait for the end of an answer that has none', async () => {
      server.will('endless');
      expect(await send())
        .to.have.property('ok')
        .that.is.a('boolean');
    });

    it('sends side by side without mixing', async () => {
      const contents = Array.from({ length: 5 }, (_, index) => `message ${index}`);
      expect(await Promise.all(contents.map((content) => send(content)))).to.deep.equal(contents.map(() => ({ ok: true })));
      expect(taken.toSorted()).to.deep.equal(contents);
    });

    it('uses a fresh connection for each message, so that none goes into one that is being closed', async () => {
      await send();
      await send();
      expect(server.connections).to.equal(2);
    });

    it('accepts its configuration, with the secrets known and without them', () => {
      expect(adapter.configProblem?.(receiver.config)).to.equal(undefined);
      expect(adapter.configProblem?.({})).to.equal(undefined);
    });
  });
}

/** Everything that no text may show: what is configured, and the key in the URL. */
function secretsIn({ path, config }: NotifyReceiver): readonly string[] {
  const { pathname, searchParams } = new URL(path, 'http://receiver.test');
  const strings = (value: unknown): readonly string[] =>
    typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
  return [...strings(config), ...searchParams.values(), ...pathname.split('/')].filter(({ length }) => length >= 8);
}
