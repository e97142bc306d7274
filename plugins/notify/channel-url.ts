/** The address of a channel. It holds the receiver's key, so outside of the channel's own view only its host is shown. */
import { invalidInput } from '../../kernel/index.ts';
import type { RegisteredHttp } from '../outside/contract.ts';
import { isChannelSecretName } from './channel-secret-name.ts';

const MAX_URL_CHARS = 2048;
/** Query parameters that hold a receiver's key under a name that says little. */
const KEY_PARAMETERS = /^(sig|sign|signature|auth|code)$/i;

/** The URL of a request, trimmed. Throws ORYX_INVALID_INPUT for one that is missing, no http(s) URL, carries a user name, or leads to a metadata address. */
export function checkedChannelUrl(sent: string, http: Pick<RegisteredHttp, 'refusal'>): string {
  const url = sent.trim();
  if (url === '') throw invalidInput('url is required: the address of the webhook, e.g. "https://open.feishu.cn/open-apis/bot/v2/hook/…".');
  if (url.length > MAX_URL_CHARS) throw invalidInput(`url must not be longer than ${MAX_URL_CHARS} characters.`);
  if (url.includes('${')) throw invalidInput('url contains a placeholder that was not replaced.');
  const refusal = http.refusal(url);
  if (refusal !== undefined) throw invalidInput(`url ${refusal}.`);
  return url;
}

/** Host and port of a URL; "" for what is none. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/** May a secret that was given for `before` be used at `after`? Only at the same host and port, and never from https to http. */
export function isSameReceiver(before: string, after: string): boolean {
  if (hostOf(before) !== hostOf(after)) return false;
  return !(before.toLowerCase().startsWith('https:') && after.toLowerCase().startsWith('http:'));
}

/** The parts of a URL that nobody but its owner should see: path segments that look like keys, and the values of key parameters. */
export function keysInUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { pathname, searchParams } = new URL(url);
  const segments = pathname.split('/').map(decoded).filter(looksLikeKey);
  const values = [...searchParams].filter(([name, value]) => isChannelSecretName(name) || KEY_PARAMETERS.test(name) || looksLikeKey(value));
  return [...new Set([...segments, ...values.map(([, value]) => value)])];
}

/** Words such as "webhook" or "alert-manager" are none: to hide them would hide them in every other text. */
const looksLikeKey = (part: string): boolean => (part.length >= 8 && /\d/.test(part)) || (part.length >= 20 && !/[-_.]/.test(part));

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A stray "%": then the segment is its own spelling.
    return segment;
  }
}
