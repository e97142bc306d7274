import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { OryxError, invalidInput } from '../../kernel/index.ts';
import type { SecretPlace } from './contract.ts';
import type { MasterKey } from './master-key.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
/** Without it Node accepts a tag of 4 bytes, which can be guessed. */
const TAG = { authTagLength: 16 };

const PREFIX = /^enc:v\d+:/;
const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const SEALED = new RegExp(`^enc:v1:([0-9a-f]{8}):([A-Za-z0-9+/]{16}):(${BASE64}):([A-Za-z0-9+/]{22}==)$`);
/** What is left when somebody has cut off the beginning: never hand that out as if it were the secret. */
const BEHEADED = /(?:^|:)[0-9a-f]{8}:[A-Za-z0-9+/]{16}:[A-Za-z0-9+/=]*:[A-Za-z0-9+/]{22}==$/;

/** `enc:v1:<key id>:<iv>:<ciphertext>:<tag>`. The place is authenticated with it. Throws ORYX_INVALID_INPUT for what looks sealed already. */
export function sealValue(plain: string, place: SecretPlace, key: MasterKey): string {
  if (PREFIX.test(plain)) throw invalidInput('A secret must not begin with "enc:v1:".');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, iv, TAG).setAAD(associated(place));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return ['enc:v1', key.id, iv.toString('base64'), sealed.toString('base64'), cipher.getAuthTag().toString('base64')].join(':');
}

/**
 * The plain text of a sealed value; a value that was never sealed is returned as it is.
 *
 * @throws ORYX_SECRET_KEY for a value that is damaged, stood at another place, or was sealed with a key that is not among `keys`
 */
export function openValue(sealed: string, place: SecretPlace, keys: readonly MasterKey[]): string {
  if (!PREFIX.test(sealed) && !BEHEADED.test(sealed)) return sealed;
  const [, keyId, iv = '', text = '', tag = ''] = SEALED.exec(sealed) ?? [];
  if (keyId === undefined) throw unreadable(place, 'it is damaged');
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw unreadable(place, `it was sealed with key ${keyId}, which is not among the keys of this workspace`);
  try {
    const decipher = createDecipheriv(ALGORITHM, key.bytes, Buffer.from(iv, 'base64'), TAG).setAAD(associated(place));
    decipher.setAuthTag(Buffer.from(tag, 'base64'));
    return Buffer.concat([decipher.update(text, 'base64'), decipher.final()]).toString('utf8');
  } catch (error) {
    throw unreadable(place, 'it is damaged or belongs to another row', error);
  }
}

function associated({ table, key, column }: SecretPlace): Buffer {
  return Buffer.from(`${table}|${key}|${column}`);
}

function unreadable({ table, key, column }: SecretPlace, reason: string, cause?: unknown): OryxError {
  const message = `The secret "${column}" of "${key}" (${table}) cannot be decrypted: ${reason}. Enter it again.`;
  return new OryxError('ORYX_SECRET_KEY', message, { cause });
}
