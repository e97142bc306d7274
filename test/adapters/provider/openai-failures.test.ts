import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { LlmFailure } from '../../../kernel/index.ts';
import {
  chunk,
  cutsAfter,
  event,
  hangsUp,
  json,
  type ModelReply,
  type ModelServer,
  page,
  raw,
  says,
  stalls,
  stallsAfter,
  startModelServer,
  status,
} from '../../harness/model-server.ts';
import { until } from '../../harness/until.ts';
import { ask, connected, type Outgoing, outgoing } from './outgoing.ts';

describe('the openai adapter fails', function () {
  this.timeout(20_000);
  let server: ModelServer;
  let out: Outgoing;
  beforeEach(async () => {
    server = await startModelServer();
    out = outgoing();
  });
  afterEach(async () => {
    await out.close();
    await server.close();
  });

  interface Failed {
    readonly failure: LlmFailure;
    readonly said: string;
  }

  function start(
    baseUrl = server.baseUrl,
    signal = new AbortController().signal,
  ): { readonly said: () => string; readonly end: Promise<Failed> } {
    let said = '';
    const end = connected(out, baseUrl)
      .chat(ask('hi'), (text) => void (said += text), signal)
      .then((result) => {
        if (result.ok) throw new Error(`it answered "${result.reply.content}"`);
        return { failure: result.failure, said };
      });
    return { said: () => said, end };
  }

  async function failureOf(reply: ModelReply): Promise<Failed> {
    server.will(reply);
    return start().end;
  }

  describe('with the status of the server', () => {
    const RETRYABLE = [408, 429, 500, 502, 503, 504, 529];
    const SWITCHABLE = [...RETRYABLE, 401, 403];
    for (const code of [...SWITCHABLE, 400, 402, 404, 409, 413, 422]) {
      const retryable = RETRYABLE.includes(code);
      const switchable = SWITCHABLE.includes(code);
      it(`${code}: ${retryable ? '' : 'not '}retryable, ${switchable ? '' : 'not '}switchable`, async () => {
        const { failure } = await failureOf(status(code, { error: { message: 'because' } }));
        expect(failure).to.deep.equal({
          kind: 'http',
          status: code,
          retryable,
          switchable,
          message: `Provider "p1" answered ${code}: because`,
        });
      });
    }

    it('a redirect is not followed, and the message says so', async () => {
      const { failure } = await failureOf(status(307, '', { location: `${server.origin}/v1/models` }));
      expect(failure).to.include({ kind: 'http', status: 307, retryable: false, switchable: false });
      expect(failure.message).to.include('redirects are not followed');
      expect(server.others).to.have.length(0);
    });

    const date = 'Mon, 30 Nov 2026 10:00:00 GMT';
    const waits: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
      [{ 'retry-after': '7' }, 7_000],
      [{ 'retry-after': '0.5' }, 500],
      [{ 'retry-after': 'Mon, 30 Nov 2026 10:00:20 GMT', date }, 20_000],
      [{ 'retry-after': 'Mon, 30 Nov 2026 09:00:00 GMT', date }, 0],
      [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
      [{ 'retry-after': 'soon' }, undefined],
      [{ 'retry-after': '-3' }, undefined],
      [{}, undefined],
    ];
    for (const [headers, expected] of waits) {
      it(`${JSON.stringify(headers)} asks for a wait of ${expected} ms`, async () => {
        const { failure } = await failureOf(status(429, {}, headers));
        expect(failure.retryAfterMs).to.equal(expected);
      });
    }

    it('a huge error body is not read to its end', async () => {
      const { failure } = await failureOf(status(500, { error: { message: 'm'.repeat(5_000_000) } }));
      expect(failure.message).to.equal('Provider "p1" answered 500');
    });
  });

  describe('when what comes is no answer', () => {
    const protocol: Readonly<Record<string, readonly [ModelReply, string]>> = {
      'a web page': [page(), 'a web page'],
      'an empty body': [raw([]), 'an empty answer'],
      'only blanks': [raw(['\n\n', '  ']), 'an empty answer'],
      'a broken JSON event': [raw([event('{"choices": [')]), 'not JSON'],
      'an event that is a JSON list': [raw([event('[1]')]), 'not JSON'],
      'broken JSON': [raw(['{"choices": ['], 'application/json'), 'not JSON'],
      'JSON without choices': [json({ hello: 1 }), 'without choices'],
      'an empty list of choices': [json({ choices: [] }), 'without choices'],
      'events without choices': [raw([event('{"object":"x"}'), event('[DONE]')]), 'without choices'],
      'plain text': [raw(['Service ready\n'], 'text/plain'), 'without choices'],
      'a stream that ends without a finish reason': [raw([event(chunk({ role: 'assistant' }))]), 'before it was complete'],
      'a [DONE] without a finish reason': [says('', { finishReason: null }), 'before it was complete'],
      'a whole answer without a finish reason': [json({ choices: [{ message: { content: null } }] }), 'before it was complete'],
      'an error instead of an answer': [json({ error: { message: 'model is loading' } }), 'reported an error: model is loading'],
    };
    for (const [what, [reply, reason]] of Object.entries(protocol)) {
      it(`${what}: another try or another provider may help`, async () => {
        const { failure } = await failureOf(reply);
        expect(failure).to.include({ kind: 'protocol', retryable: true, switchable: true });
        expect(failure.message).to.include('"p1"').and.include(reason);
      });
    }

    it('an error event in mid-stream, with the status it names', async () => {
      const heard = () => until('the first word', () => call.said() === 'a');
      server.will(raw([event(chunk({ content: 'a' })), heard, event('{"error":{"code":429,"message":"slow down"}}'), event('[DONE]')]));
      const call = start();
      const { failure, said } = await call.end;
      expect(failure).to.include({ kind: 'http', status: 429, retryable: true, message: 'Provider "p1" answered 429: slow down' });
      expect(said).to.equal('a');
    });

    it('a stream that never ends, after 64 MB', async () => {
      const piece = event(chunk({ content: 'x'.repeat(1_000_000) }));
      const { failure } = await failureOf(raw(Array.from({ length: 80 }, () => piece)));
      expect(failure).to.include({ kind: 'protocol' });
      expect(failure.message).to.include('64 MB');
    });

    it('a list of models that is none', async () => {
      server.modelsReply = json({ models: 'many' });
      const result = await connected(out, server.baseUrl).models(new AbortController().signal);
      expect(result).to.have.nested.property('failure.kind', 'protocol');
    });
  });

  describe('when the network does', () => {
    it('nobody listens', async () => {
      const gone = await startModelServer();
      await gone.close();
      const { failure } = await start(gone.baseUrl).end;
      expect(failure).to.deep.equal({
        kind: 'network',
        retryable: true,
        switchable: true,
        message: 'Provider "p1" cannot be reached: connection refused',
      });
    });

    it('the host does not exist', async () => {
      await out.close();
      const missing = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
      out = outgoing((_host, _options, done) => done(missing, []));
      const { failure } = await start('http://model.invalid').end;
      expect(failure).to.include({ kind: 'network', message: 'Provider "p1" cannot be reached: host name not found' });
    });

    it('the server hangs up without a word', async () => {
      expect((await failureOf(hangsUp())).failure).to.include({ kind: 'network', retryable: true, switchable: true });
    });

    it('the stream is cut before the first word', async () => {
      const { failure, said } = await failureOf(cutsAfter(''));
      expect(failure).to.include({ kind: 'network', retryable: true });
      expect(said).to.equal('');
    });

    it('the stream is cut in the middle', async () => {
      const { failure, said } = await failureOf(cutsAfter('half of '));
      expect(failure).to.include({ kind: 'network', retryable: true });
      expect(said).to.equal('half of ');
    });

    it('the server speaks something that is not HTTP', async () => {
      const other = createServer((socket) => socket.end('SSH-2.0-server\r\n'));
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const { failure } = await start(`http://127.0.0.1:${(other.address() as AddressInfo).port}`).end;
      other.close();
      expect(failure.kind).to.equal('network');
    });

    it('the address is a metadata address', async () => {
      const { failure } = await start('http://169.254.169.254/v1').end;
      expect(failure).to.include({ kind: 'network', retryable: false });
      expect(failure.message).to.include('metadata');
    });
  });

  describe('when time is over', () => {
    it('no connection within 10 s', async () => {
      await out.close();
      out = outgoing(() => {});
      const call = start('http://slow.test');
      await until('the connection is tried', () => out.clock.pending > 0);
      await out.clock.tick(9_999);
      expect(out.clock.pending).to.equal(1);
      await out.clock.tick(1);
      const { failure } = await call.end;
      expect(failure).to.include({ kind: 'timeout', retryable: true, switchable: true });
      expect(failure.message).to.include('no connection').and.include('10 s');
    });

    it('no first byte within 120 s', async () => {
      server.will(stalls());
      const call = start();
      await server.received(1);
      await out.clock.tick(119_000);
      expect(out.clock.pending).to.equal(1);
      await out.clock.tick(1_000);
      const { failure } = await call.end;
      expect(failure).to.include({ kind: 'timeout', retryable: true, switchable: true });
      expect(failure.message).to.include('120 s');
      await until('the connection is given up', () => server.requests[0]?.isGone);
    });

    it('no next byte within 120 s, counted anew with each', async () => {
      let goOn = (): void => {};
      const between = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      server.will(async (request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(chunk({ content: 'one ' })));
        await between;
        await stallsAfterHead('two ')(request, response);
      });
      const call = start();
      await until('the first word', () => call.said() === 'one ');
      await out.clock.tick(100_000);
      goOn();
      await until('the second word', () => call.said() === 'one two ');
      await out.clock.tick(119_000);
      expect(out.clock.pending).to.equal(1);
      await out.clock.tick(1_000);
      const { failure, said } = await call.end;
      expect(failure.kind).to.equal('timeout');
      expect(said).to.equal('one two ');
      expect(out.clock.pending).to.be.at.most(1);
    });

    it('a stalled stream leaves no timer and no connection behind', async () => {
      server.will(stallsAfter('x'));
      const call = start();
      await until('the first word', () => call.said() === 'x');
      await out.clock.tick(120_000);
      await call.end;
      await until('the connection is given up', () => server.requests[0]?.isGone);
      await out.clock.tick(60_000);
      expect(out.clock.pending).to.equal(0);
    });
  });

  describe('with kind aborted when its caller gives up', () => {
    it('before the answer begins', async () => {
      server.will(stalls());
      const controller = new AbortController();
      const call = start(server.baseUrl, controller.signal);
      await server.received(1);
      controller.abort();
      const { failure } = await call.end;
      expect(failure).to.include({ kind: 'aborted', retryable: false, switchable: false });
      await until('the connection is given up', () => server.requests[0]?.isGone);
    });

    it('in mid-stream', async () => {
      server.will(stallsAfter('x'));
      const controller = new AbortController();
      const call = start(server.baseUrl, controller.signal);
      await until('the first word', () => call.said() === 'x');
      controller.abort(new Error('cancelled by somebody'));
      expect((await call.end).failure.kind).to.equal('aborted');
      await until('the connection is given up', () => server.requests[0]?.isGone);
    });

    it('and leaves no listener on a signal that lives on', async () => {
      const { signal } = new AbortController();
      const provider = connected(out, server.baseUrl);
      server.will(says('fine'), status(500), page());
      for (let count = 0; count < 3; count += 1) await provider.chat(ask('hi'), () => {}, signal);
      expect(getEventListeners(signal, 'abort')).to.have.length(0);
    });
  });

  it('without a base URL, as a value', async () => {
    const provider = connected(out, '', { baseUrl: undefined });
    const result = await provider.chat(ask('hi'), () => {}, new AbortController().signal);
    expect(result).to.have.nested.property('failure.kind', 'missing');
  });
});

/** Says a part on a response whose head is out, and then nothing more. */
function stallsAfterHead(text: string): ModelReply {
  return (_request, response) => void response.write(event(chunk({ content: text })));
}
