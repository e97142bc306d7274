/** What may stand in the configuration of a channel. */
import { isObject, type JsonObject } from '../shared/json.ts';

type Config = Readonly<Record<string, unknown>>;

/** A header's name is a token, its value visible characters, spaces and tabs (RFC 9110, 5.5 and 5.6.2). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** These belong to the connection or are written by the adapter. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-oryx-signature',
  'x-oryx-timestamp',
]);

/** The secret to sign with; undefined for none. */
export function secretOf({ secret }: Config): string | undefined {
  return typeof secret === 'string' && secret !== '' ? secret : undefined;
}

/** Configured headers, names in lower case. */
export function headersOf({ headers }: Config): Readonly<Record<string, string>> {
  if (!isObject(headers)) return {};
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => typeof entry[1] === 'string'));
}

/** Why `secret` or `headers` cannot be used, naming the key; undefined when they can, or are not there. */
export function configProblem({ secret, headers }: Config): string | undefined {
  if (secret !== undefined && secret !== null && typeof secret !== 'string') return 'config.secret must be a string';
  if (headers === undefined || headers === null) return undefined;
  return isObject(headers) ? headersProblem(headers) : 'config.headers must be a map of names to strings';
}

function headersProblem(headers: JsonObject): string | undefined {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) return `config.headers: ${JSON.stringify(name)} is not the name of a header`;
    if (RESERVED.has(lower)) return `config.headers: "${name}" cannot be set here`;
    if (seen.has(lower)) return `config.headers: "${name}" is there twice`;
    seen.add(lower);
    if (typeof value !== 'string') return `config.headers: the value of "${name}" must be a string`;
    if (!HEADER_VALUE.test(value)) return `config.headers: the value of "${name}" has characters that a header cannot have`;
  }
  return undefined;
}
