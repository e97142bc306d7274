/** Whether a request comes from Feishu, and what it says then. */
import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import type { InboundRequest } from '../../kernel/index.ts';
import type { FeishuSettings } from './feishu-settings.ts';
import { epochMs } from './feishu-time.ts';
import { type JsonObject, objectAt, parsedObject, textAt } from '../shared/json.ts';

/** The verified content of a request, or why it is not believed. */
export type FeishuProof = { readonly ok: true; readonly payload: JsonObject } | { readonly ok: false; readonly reason: string };

/**
 * Feishu delivers an event again for up to seven hours, and does not say whether it signs anew. Replays within the time are found by their
 * event id, which is remembered for longer.
 */
const MAX_AGE_MS = 24 * 3600 * 1000;
/** How far Feishu's clock may be ahead of ours. */
const MAX_AHEAD_MS = 5 * 60 * 1000;

/** One text for everything that is wrong with a body that claims to be encrypted: what fails first would help to forge one. */
const NOT_GENUINE = 'the request is not signed and encrypted with the encrypt_key of the channel';

/**
 * With an encrypt_key a request must be encrypted and signed; only the verification of the address, which Feishu does not sign, is believed
 * for being readable. A verification_token must be in what is said, whether that was encrypted or not.
 */
export function feishuProof(request: InboundRequest, settings: FeishuSettings): FeishuProof {
  const { verificationToken, encryptKey, appId } = settings;
  const opened = encryptKey === undefined ? plain(request) : encrypted(request, encryptKey);
  if (!opened.ok) return opened;

  const header = objectAt(opened.payload, 'header');
  const token = textAt(header, 'token') ?? textAt(opened.payload, 'token');
  if (verificationToken !== undefined && !isSame(token, verificationToken))
    return refused('the verification token is not that of the channel');
  const app = textAt(header, 'app_id') ?? textAt(objectAt(opened.payload, 'event'), 'app_id');
  if (app !== undefined && app !== appId) return refused('the event is for another app than the app_id of the channel');
  return opened;
}

function plain({ body }: InboundRequest): FeishuProof {
  return 'encrypt' in body ? refused('the event is encrypted, and the channel has no encrypt_key') : { ok: true, payload: body };
}

function encrypted(request: InboundRequest, encryptKey: string): FeishuProof {
  const sealed = textAt(request.body, 'encrypt');
  const isSigned = request.header('x-lark-signature') !== undefined;
  if (sealed === undefined) return refused(NOT_GENUINE);
  if (isSigned && !hasSignature(request, encryptKey)) return refused(NOT_GENUINE);
  const payload = decrypted(sealed, encryptKey);
  if (payload === undefined || (!isSigned && payload['type'] !== 'url_verification')) return refused(NOT_GENUINE);
  if (!isSigned) return { ok: true, payload };
  const signedAt = epochMs(request.header('x-lark-request-timestamp'));
  const ageMs = request.at - (signedAt ?? Number.NaN);
  if (!(ageMs <= MAX_AGE_MS && ageMs >= -MAX_AHEAD_MS))
    return refused('the request was signed at another time: is the clock of this machine right?');
  return { ok: true, payload };
}

function hasSignature({ header, rawBody }: InboundRequest, encryptKey: string): boolean {
  const signed = `${header('x-lark-request-timestamp') ?? ''}${header('x-lark-request-nonce') ?? ''}${encryptKey}${rawBody}`;
  return isSame(header('x-lark-signature')?.toLowerCase(), createHash('sha256').update(signed).digest('hex'));
}

/** AES-256-CBC; the first block is the initialisation vector. Undefined for whatever cannot be read. */
function decrypted(sealed: string, encryptKey: string): JsonObject | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < 32 || bytes.length % 16 !== 0) return undefined;
  const decipher = createDecipheriv('aes-256-cbc', createHash('sha256').update(encryptKey).digest(), bytes.subarray(0, 16));
  try {
    return parsedObject(Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Takes as long for a text that is nearly right as for one that is not. */
function isSame(given: string | undefined, wanted: string): boolean {
  if (given === undefined) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

const refused = (reason: string): FeishuProof => ({ ok: false, reason });
