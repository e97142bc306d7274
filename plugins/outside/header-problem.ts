/** They belong to the connection, or name its target: a server could be made to see another request than the one that was judged. */
const OF_THE_CONNECTION = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);
/** RFC 9110: a token. This leaves out ":" and so HTTP/2's pseudo headers. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why nobody but the connection may send a header, or nobody at all, as the end of a sentence that names it; undefined when one may. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!NAME.test(name)) return 'is not a valid header name';
  if (OF_THE_CONNECTION.has(name.toLowerCase())) return 'is set by the connection itself and cannot be given';
  if (!VALUE.test(value)) return 'has a line break or a character that headers cannot hold';
  return undefined;
}
