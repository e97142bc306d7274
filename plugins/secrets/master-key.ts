import { createHmac } from 'node:crypto';
import { OryxError } from '../../kernel/index.ts';

/** A key for AES-256. */
export interface MasterKey {
  /** 8 hexadecimal digits that follow from the key and do not reveal it; stands in every value sealed with it. */
  readonly id: string;
  readonly bytes: Buffer;
}

const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Reads a key written as 32 bytes of base64.
 *
 * @param source  where it comes from, for the message
 * @throws ORYX_SECRET_KEY
 */
export function parseMasterKey(text: string, source: string): MasterKey {
  if (!BASE64_OF_32_BYTES.test(text)) {
    throw new OryxError(
      'ORYX_SECRET_KEY',
      `${source} must hold 32 bytes in base64 (44 characters), as "openssl rand -base64 32" prints them.`,
    );
  }
  return masterKey(Buffer.from(text, 'base64'));
}

/** The key made of these 32 bytes. */
export function masterKey(bytes: Buffer): MasterKey {
  return { id: createHmac('sha256', bytes).update('oryxos key id').digest('hex').slice(0, 8), bytes };
}
