/** Words for what went wrong, fit for people and models. */
import type { NotifyOutcome, NotifyTarget } from '../../kernel/index.ts';

/** An outcome that is no success. */
export type NotifyFailure = Extract<NotifyOutcome, { readonly ok: false }>;

const MAX_SAID_CHARS = 200;
/** Shorter parts of a URL are words like "robot" or "send". */
const MIN_URL_PART_CHARS = 8;
const MIN_SECRET_CHARS = 4;

/**
 * What a stranger said, fit to be shown: without the channel's URL, any part of it that may be a key, and anything that was configured;
 * without other URLs and control characters; at most 200 characters.
 */
export function shown(text: string, target: NotifyTarget): string {
  const masked = hiddenIn(target).reduce((rest, secret) => rest.replaceAll(secret, '****'), text);
  const plain = masked
    .replaceAll(/\b[a-z][a-z0-9+.-]{0,30}:\/\/\S+/gi, '(URL)')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return plain.length <= MAX_SAID_CHARS ? plain : `${cut(plain)}…`;
}

/** Never between the halves of a surrogate pair. */
const cut = (text: string): string => text.slice(0, MAX_SAID_CHARS).replace(/[\ud800-\udbff]$/, '');

/** Longest first, so that no part of one is left over. */
function hiddenIn({ url, config }: NotifyTarget): readonly string[] {
  const configured = stringsIn(config).flatMap((text) => [text, ...text.split(/\s+/)]);
  const all = [...configured.filter(({ length }) => length >= MIN_SECRET_CHARS), ...partsOf(url)];
  return [...new Set(all)].toSorted((a, b) => b.length - a.length);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function partsOf(text: string): readonly string[] {
  if (!URL.canParse(text)) return [text];
  const { host, hostname, pathname, search, searchParams } = new URL(text);
  const parts = [...pathname.split('/'), ...searchParams.values(), ...search.slice(1).split(/[&=]/)];
  return [text, `${host}${pathname}`, host, hostname, ...parts.filter(({ length }) => length >= MIN_URL_PART_CHARS)];
}
