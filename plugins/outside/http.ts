/** The HTTP client of tools: judge the URL, look its name up once, judge the addresses, dial one; follow redirects the same way. */
import { lookup as systemLookup } from 'node:dns';
import type * as Undici from 'undici';
import type { Context, ToolRun } from '../../kernel/index.ts';
import { accessOf, HttpProblem, urlClaim } from './contract.ts';
import type { Http, HttpAnswer } from './contract.ts';
import { literalOf, resolvedName } from './http-dialer.ts';
import { requestHeaders } from './http-headers.ts';
import { CONNECT_MS, exchanged } from './http-hop.ts';
import { nextHop } from './http-redirect.ts';
import type { Hop } from './http-redirect.ts';
import { requireNoMetadata, targetUrl } from './http-target.ts';
import { loadUndici } from './http-undici.ts';
import { httpWatch } from './http-watch.ts';
import type { HttpWatch } from './http-watch.ts';
import type { Lookup } from './registered-dialer.ts';

const TOTAL_MS = 30_000;
const MAX_REDIRECTS = 5;

/** How names become addresses, and addresses become sockets. Tests bring their own. */
export interface Network {
  readonly lookup?: Lookup;
  readonly connector?: (undici: typeof Undici) => Undici.buildConnector.connector;
}

/** One request with what it needs. */
interface Step<T> {
  readonly hop: Hop;
  readonly access: 'read' | 'write';
  readonly run: ToolRun;
  readonly watch: HttpWatch;
  readonly use: (answer: HttpAnswer) => Promise<T>;
}

const system: Lookup = (hostname, options, done) => systemLookup(hostname, { ...options, all: true }, done);
const sockets: Required<Network>['connector'] = ({ buildConnector }) => buildConnector({ timeout: 0, allowH2: false });

/** The service `outside.http`. No connection outlives its call; undici is loaded with the first one. */
export function createHttp(ctx: Pick<Context, 'clock' | 'own'>, { lookup = system, connector = sockets }: Network = {}): Http {
  const watches = new Set<HttpWatch>();
  ctx.own('requests of tools', () => {
    for (const watch of watches) watch.end();
  });

  return {
    async send(call, run, use) {
      const access = accessOf(call.method);
      const watch = httpWatch(ctx.clock, run.signal, TOTAL_MS);
      watches.add(watch);
      try {
        // As it stands: what a parser drops silently, the guards shall see.
        await run.claim(urlClaim(call.url, access));
        let hop: Hop = { method: call.method, url: targetUrl(call.url), headers: requestHeaders(call.headers), body: call.body };
        for (let left = MAX_REDIRECTS; ; left -= 1) {
          const end = await step({ hop, access, run, watch, use });
          if ('value' in end) return end.value;
          if (left === 0)
            throw new HttpProblem(`Too many redirects: ${hop.url.host} was the ${MAX_REDIRECTS + 1}th URL and leads to another`);
          // What was meant to write is judged as writing to the end, whatever method is left of it.
          await run.claim(urlClaim(end.next.url.href, access));
          hop = { ...end.next, url: targetUrl(end.next.url.href) };
        }
      } finally {
        watch.end();
        watches.delete(watch);
      }
    },
  };

  /** Sends to a URL that the guards have permitted, once they have permitted the addresses behind it. */
  async function step<T>({ hop, access, run, watch, use }: Step<T>): Promise<{ readonly value: T } | { readonly next: Hop }> {
    const { url } = hop;
    const literal = literalOf(url.hostname);
    const found = literal === undefined ? resolvedName(url.hostname, lookup) : Promise.resolve([literal]);
    const addresses = await watch.within(found, CONNECT_MS, `${url.hostname} was not found`);
    await run.claim(urlClaim(url.href, access, addresses));
    requireNoMetadata(url.hostname, addresses);
    const [address = ''] = addresses;
    const undici = loadUndici();
    return exchanged(hop, address, { clock: ctx.clock, undici, dial: connector(undici), watch }, async (answer) => {
      const next = nextHop(hop, answer.status, answer.headers['location']);
      return next === undefined ? { value: await use(answer) } : { next };
    });
  }
}
