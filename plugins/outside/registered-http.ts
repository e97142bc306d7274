/** Outgoing HTTP for administrators' URLs: one keep-alive pool per origin, no redirects, never a metadata address. */
import type * as Undici from 'undici';
import type { Context } from '../../kernel/index.ts';
import { OryxError } from '../../kernel/index.ts';
import type { RegisteredHttp } from './contract.ts';
import { loadUndici } from './http-undici.ts';
import { isMetadataHost } from './registered-addresses.ts';
import { registeredDialer } from './registered-dialer.ts';
import type { Lookup } from './registered-dialer.ts';
import { Exchange } from './registered-exchange.ts';

const READ_TIMEOUT_MS = 120_000;
/** How long an idle connection is kept; servers that say less are believed. */
const KEEP_ALIVE_MS = 20_000;
/** How long an origin without requests keeps its pool. */
const UNUSED_POOL_MS = 60_000;
/** A dial that nobody waits for any more ends after this; no caller's own limit is longer. */
const DIAL_TIMEOUT_MS = 60_000;

/** How many judged URLs are kept. */
const MAX_TARGETS = 256;

interface Target {
  readonly origin: string;
  readonly host: string;
  readonly path: string;
}

interface Lane {
  readonly pool: Undici.Pool;
  inFlight: number;
  /** Cancels the closing of the unused pool. */
  keep: () => void;
  /** Until undici has taken a connection back: who asks earlier opens another one. */
  returning: Promise<void> | undefined;
}

/** undici takes a connection back in an immediate that it sets after it has announced the end of the response; this one comes later. */
const taken = (): Promise<void> => Promise.resolve().then(() => new Promise((resolve) => void setImmediate(resolve)));

const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

function refusalOf(text: string): string | undefined {
  const url = parsed(text);
  if (url === undefined) return 'is not a valid URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.hostname.includes('%') || url.hostname === '') return 'has no valid host name';
  if (isMetadataHost(url.hostname)) return 'points to a cloud metadata or link-local address, which is refused';
  return undefined;
}

/**
 * The client behind `outside.registered`. Connections are pooled per origin; a pool that has had no request for a minute is closed, and all
 * are closed with the context. undici is loaded with the first request.
 *
 * @param lookup  how names become addresses; the system's resolver by default
 */
export function createRegisteredHttp(ctx: Pick<Context, 'clock' | 'own'>, lookup?: Lookup): RegisteredHttp {
  const lanes = new Map<string, Lane>();
  const targets = new Map<string, Target>();
  let undici: typeof Undici | undefined;
  let closed = false;

  ctx.own('connection pools of registered URLs', async () => {
    closed = true;
    const pools = [...lanes.values()];
    lanes.clear();
    for (const { keep } of pools) keep();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  });

  function laneOf(origin: string, { Pool, buildConnector }: typeof Undici): Lane {
    if (closed) throw new OryxError('ORYX_STOPPING', 'The server is stopping.');
    const known = lanes.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
      connect: registeredDialer(buildConnector, DIAL_TIMEOUT_MS, lookup),
      // HTTP/2 upgrades break several local model servers.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The exchange has its own deadlines, on the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const lane: Lane = { pool, inFlight: 0, keep: () => {}, returning: undefined };
    lanes.set(origin, lane);
    return lane;
  }

  function release(origin: string, lane: Lane): void {
    lane.inFlight -= 1;
    lane.returning ??= taken().then(() => {
      lane.returning = undefined;
    });
    if (lane.inFlight > 0 || closed) return;
    lane.keep = ctx.clock.after(UNUSED_POOL_MS, () => {
      lanes.delete(origin);
      // Nothing is in flight and nothing can be sent any more: closing cannot fail in a way that matters.
      lane.pool.close().catch(() => {});
    });
  }

  /** A URL that has been judged. The latest are kept: calls go to the same few over and over. */
  function targetOf(url: string): Target {
    const known = targets.get(url);
    if (known) return known;
    const refusal = refusalOf(url);
    if (refusal !== undefined) throw new OryxError('ORYX_REFUSED', `The URL ${refusal}.`);
    const { origin, host, pathname, search } = new URL(url);
    const target = { origin, host, path: pathname + search };
    if (targets.size >= MAX_TARGETS) targets.clear();
    targets.set(url, target);
    return target;
  }

  return {
    refusal: refusalOf,
    async request({ method, url, headers, body, signal, connectTimeoutMs, readTimeoutMs = READ_TIMEOUT_MS }) {
      const target = targetOf(url);
      undici ??= loadUndici();
      const lane = laneOf(target.origin, undici);
      lane.keep();
      lane.inFlight += 1;
      if (lane.returning) await lane.returning;
      const limits = { connectTimeoutMs, readTimeoutMs, signal };
      const exchange = new Exchange(ctx.clock, target.host, limits, () => release(target.origin, lane));
      if (!exchange.ended) lane.pool.dispatch({ path: target.path, method, headers, ...(body === undefined ? {} : { body }) }, exchange);
      return exchange.answer;
    },
  };
}
