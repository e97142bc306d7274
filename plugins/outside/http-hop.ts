/** One request to one address, over a connection of its own. */
import { STATUS_CODES } from 'node:http';
import type * as Undici from 'undici';
import type { Clock } from '../../kernel/index.ts';
import type { HttpAnswer } from './contract.ts';
import { unpacked } from './http-body.ts';
import { pinnedDialer } from './http-dialer.ts';
import { networkProblem } from './http-problem.ts';
import type { Hop } from './http-redirect.ts';
import type { HttpWatch } from './http-watch.ts';
import { Exchange } from './registered-exchange.ts';

/** Until the connection stands, until the head of the answer has come, and between two pieces of its body. */
export const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;

/** What a request is sent with. */
export interface HopMeans {
  readonly clock: Clock;
  readonly undici: typeof Undici;
  readonly dial: Undici.buildConnector.connector;
  readonly watch: HttpWatch;
}

/**
 * Sends a request to `address` and gives its answer to `use`; the connection is closed when that has settled. Throws HttpProblem when the
 * network fails, the verdict of the watch, and what `use` throws.
 */
export async function exchanged<T>(
  { method, url, headers, body }: Hop,
  address: string,
  { clock, undici, dial, watch }: HopMeans,
  use: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  const client = new undici.Client(url.origin, {
    connect: pinnedDialer(dial, address),
    pipelining: 1,
    allowH2: false,
    // The exchange has its own deadlines, on the injected clock.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const left = new AbortController();
  const failure = (error: unknown): unknown => watch.verdict() ?? networkProblem(error, url.host);
  const limits = { connectTimeoutMs: CONNECT_MS, readTimeoutMs: SILENCE_MS, signal: AbortSignal.any([watch.signal, left.signal]) };
  const exchange = new Exchange(clock, url.host, limits, () => {});
  try {
    const request = { path: url.pathname + url.search, method, headers: { ...headers }, ...(body !== undefined && { body }) };
    if (!exchange.ended) client.dispatch(request, exchange);
    const answer = await exchange.answer.catch((error: unknown) => {
      throw failure(error);
    });
    const pieces = unpacked(answer.body, answer.headers['content-encoding']);
    return await use({
      ...answer,
      reason: STATUS_CODES[answer.status] ?? '',
      url: url.href,
      body: explained(pieces, failure, () => left.abort()),
    });
  } finally {
    // Nothing of it is used again, so what goes wrong while it is torn down concerns nobody.
    client.destroy().catch(() => {});
  }
}

/** Passes pieces on. A reader that leaves early ends the request first: nothing waits for the rest of a body that nobody wants. */
async function* explained(
  body: AsyncIterable<Uint8Array>,
  failure: (error: unknown) => unknown,
  leave: () => void,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await pieces.next();
      isOver = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    isOver = true;
    throw failure(error);
  } finally {
    if (!isOver) {
      leave();
      await pieces.return?.();
    }
  }
}
