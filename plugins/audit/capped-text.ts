import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';

/** What one column holds at most, in bytes of UTF-8. */
export const MAX_BYTES = 64 * 1024;
/** Hashed between two turns of the event loop; takes about 1 ms. */
const SLICE_BYTES = 1024 * 1024;

/** A text as it is stored. `bytes` and `sha256` of the whole text stand there exactly when it was cut. */
export interface CappedText {
  readonly text: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** No text at all. */
export const NO_TEXT: CappedText = { text: null, bytes: null, sha256: null };

/** Cuts a text to `MAX_BYTES`, never inside a character, and hashes what is longer, without holding up the event loop. */
export async function cappedText(text: string): Promise<CappedText> {
  // A UTF-16 unit takes at most 3 bytes.
  if (text.length * 3 <= MAX_BYTES || Buffer.byteLength(text) <= MAX_BYTES) return { text, bytes: null, sha256: null };
  const whole = Buffer.from(text);
  const hash = createHash('sha256');
  for (let start = 0; start < whole.length; start += SLICE_BYTES) {
    if (start > 0) await nextTick();
    hash.update(whole.subarray(start, start + SLICE_BYTES));
  }
  return { text: headOf(whole), bytes: whole.length, sha256: hash.digest('hex') };
}

function headOf(whole: Buffer): string {
  let end = MAX_BYTES;
  // A byte 10xxxxxx continues a character: the cut goes before its first byte.
  while (((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return whole.toString('utf8', 0, end);
}
