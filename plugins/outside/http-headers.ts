/** Which headers a tool may send, and which of them go along to another origin. */
import { HttpProblem, printable } from './contract.ts';
import { headerProblem } from './header-problem.ts';

const MAX_HEADERS = 64;
const MAX_BYTES = 16 * 1024;
const DEFAULTS = { accept: '*/*', 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'OryxOS' } as const;
/** What says how to answer, not who asks. */
const HARMLESS = /^(accept(-.*)?|user-agent|content-type)$/;

/** Headers in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** The caller's headers over the usual ones. Throws HttpProblem that names the header for one that must not be sent. */
export function requestHeaders(given: Headers = {}): Headers {
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) throw new HttpProblem(`Bad headers: at most ${MAX_HEADERS} can be sent`);
  const headers = new Map<string, string>(Object.entries(DEFAULTS));
  let bytes = 0;
  for (const [name, value] of entries) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) throw new HttpProblem(`Bad headers: "${printable(name).slice(0, 100)}" ${problem}`);
    bytes += name.length + value.length;
    headers.set(name.toLowerCase(), value.trim());
  }
  if (bytes > MAX_BYTES) throw new HttpProblem(`Bad headers: more than ${MAX_BYTES} bytes cannot be sent`);
  return Object.fromEntries(headers);
}

/** True when a header is there that another origin must not see. */
export const hasCredentials = (headers: Headers): boolean => Object.keys(headers).some((name) => !HARMLESS.test(name));

/** What may go along to another origin. */
export const harmless = (headers: Headers): Headers => Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.test(name)));

/** The headers of a request that has lost its body. */
export const withoutBody = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
