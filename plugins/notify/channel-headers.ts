/** Headers that a channel adds to its messages. */

/** They belong to the connection or to the body, so they are not an administrator's to set. */
const SET_BY_THE_CONNECTION = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);
/** RFC 9110: a token. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why a header cannot be sent, as the end of a sentence that names it, or undefined when it can. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!NAME.test(name)) return 'is not a valid header name';
  if (SET_BY_THE_CONNECTION.has(name.toLowerCase())) return 'is set by the connection itself and cannot be configured';
  if (!VALUE.test(value)) return 'has a line break or a character that headers cannot hold';
  return undefined;
}

/** A name that occurs twice, however it is spelt; undefined when there is none. */
export function repeatedHeader(names: Iterable<string>): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) return name;
    seen.add(name.toLowerCase());
  }
  return undefined;
}
