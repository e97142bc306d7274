/** Where a redirect leads, and what of the request goes along. */
import { HttpProblem } from './contract.ts';
import type { HttpMethod } from './contract.ts';
import { harmless, hasCredentials, withoutBody } from './http-headers.ts';
import type { Headers } from './http-headers.ts';

/** A request as it is sent to one URL. */
export interface Hop {
  readonly method: HttpMethod;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
}

const TO_GET = new Set([301, 302, 303]);
const SAME_METHOD = new Set([307, 308]);

/**
 * The next request, undefined when the answer is no redirect. What was meant for one origin is not sent to another one: caller's headers are
 * dropped, and a body that would have to go along is an HttpProblem, as is a step from https to http with credentials.
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (location === undefined || !(TO_GET.has(status) || SAME_METHOD.has(status))) return undefined;
  const url = targetOf(location, hop.url);
  const keepsBody = SAME_METHOD.has(status) && hop.body !== undefined;
  const isForeign = url.origin !== hop.url.origin;
  if (hop.url.protocol === 'https:' && url.protocol === 'http:' && (keepsBody || hasCredentials(hop.headers))) {
    throw new HttpProblem(`${hop.url.host} redirects from https to http, which would show headers or body to everybody on the way`);
  }
  if (isForeign && keepsBody) {
    throw new HttpProblem(
      `${hop.url.host} redirects to another origin (${url.origin}) and the body is not sent there; ask that URL directly`,
    );
  }
  const headers = isForeign ? harmless(hop.headers) : hop.headers;
  if (SAME_METHOD.has(status)) return { ...hop, url, headers };
  return { method: 'GET', url, headers: withoutBody(headers), body: undefined };
}

function targetOf(location: string, base: URL): URL {
  if (!URL.canParse(location, base.href)) throw new HttpProblem(`${base.host} redirects to something that is no valid URL`);
  const url = new URL(location, base.href);
  url.hash = '';
  return url;
}
