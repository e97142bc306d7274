/** The address of a provider. */
import { invalidInput } from '../../kernel/index.ts';
import type { RegisteredHttp } from '../outside/contract.ts';

const MAX_URL_CHARS = 2048;

/**
 * The base URL of a request, trimmed. Only `mock` can do without.
 *
 * Throws ORYX_INVALID_INPUT for one that is missing, no http(s) URL, carries a user name, or leads to a metadata address.
 */
export function checkedBaseUrl(name: string, sent: string | null | undefined, http: Pick<RegisteredHttp, 'refusal'>): string | null {
  const url = sent?.trim() ?? '';
  if (url === '') {
    if (name === 'mock') return null;
    throw invalidInput('baseUrl is required: the address of an OpenAI-compatible server, e.g. "https://api.deepseek.com".');
  }
  if (url.length > MAX_URL_CHARS) throw invalidInput(`baseUrl must not be longer than ${MAX_URL_CHARS} characters.`);
  if (url.includes('${')) throw invalidInput('baseUrl contains a placeholder that was not replaced.');
  const refusal = http.refusal(url);
  if (refusal !== undefined) throw invalidInput(`baseUrl ${refusal}.`);
  return url;
}

/** Host and port of a stored URL; "" for none. */
export function hostOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).host : '';
}

/** May a key that was given for `before` be sent to `after`? Only to the same host and port, and never from https to http. */
export function isSameReceiver(before: string | null, after: string | null): boolean {
  if (hostOf(before) !== hostOf(after)) return false;
  const isDowngrade = before?.toLowerCase().startsWith('https:') === true && after?.toLowerCase().startsWith('http:') === true;
  return !isDowngrade;
}
