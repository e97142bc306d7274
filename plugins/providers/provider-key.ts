/** A provider's key: how it is kept, read, shown and changed. */
import { invalidInput, isOryxError } from '../../kernel/index.ts';
import type { Secrets } from '../secrets/contract.ts';

const MAX_KEY_CHARS = 4096;
const MASK = '****';
const SEALED_PREFIX = 'enc:v1:';

/** A key as it was found. A damaged one is there, but nobody can read it. */
export type ProviderKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly value: string }
  | { readonly kind: 'damaged'; readonly reason: string };

/** What a request does to a key. */
export type KeyChange = { readonly kind: 'keep' } | { readonly kind: 'remove' } | { readonly kind: 'set'; readonly value: string };

const placeOf = (name: string) => ({ table: 'providers', key: name, column: 'api_key' }) as const;

/** Encrypts a key for its provider's row. */
export const sealedKey = (name: string, value: string, secrets: Secrets): string => secrets.seal(value, placeOf(name));

/** Reads a stored key; one that an older program left in plain text is read as it is. Never throws for a bad one: it disables one provider, not the server. */
export function openedKey(name: string, stored: string | null, secrets: Secrets): ProviderKey {
  if (stored === null || stored === '') return { kind: 'none' };
  try {
    return { kind: 'known', value: secrets.open(stored, placeOf(name)) };
  } catch (error) {
    if (!isOryxError(error) || error.code !== 'ORYX_SECRET_KEY') throw error;
    return { kind: 'damaged', reason: 'cannot be used: its stored API key cannot be decrypted, send the key again' };
  }
}

/** How a key is shown: its mask, or in plain text when the operator wants that. */
export function shownKey(key: ProviderKey, reveal: boolean, secrets: Secrets): string | null {
  if (key.kind === 'none') return null;
  if (key.kind === 'damaged') return MASK;
  return reveal ? key.value : secrets.hint(key.value);
}

/**
 * What the `apiKey` of a request means: absent, blank or the mask that was shown keeps the key, `null` removes it, anything else replaces it.
 * Throws ORYX_INVALID_INPUT for another mask, a sealed value, and what cannot stand in a header.
 */
export function keyChange(sent: string | null | undefined, key: ProviderKey, secrets: Secrets): KeyChange {
  if (sent === null) return { kind: 'remove' };
  const value = sent?.trim() ?? '';
  if (value === '') return { kind: 'keep' };
  const isMask = key.kind !== 'none' && (value === MASK || (key.kind === 'known' && value === secrets.hint(key.value)));
  if (isMask) return { kind: 'keep' };
  if (value.startsWith(MASK)) throw invalidInput('apiKey looks like a mask, but not like that of the stored key: send the whole key.');
  if (value.startsWith(SEALED_PREFIX)) throw invalidInput('apiKey must be the key itself, not an encrypted value.');
  if (value.length > MAX_KEY_CHARS) throw invalidInput(`apiKey must not be longer than ${MAX_KEY_CHARS} characters.`);
  if (!/^[\x21-\x7e]+$/.test(value)) throw invalidInput('apiKey must consist of visible ASCII characters, without blanks.');
  return { kind: 'set', value };
}
