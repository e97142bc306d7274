/** One stream of a child, of which the beginning and the end are kept. */
import { StringDecoder } from 'node:string_decoder';

const HEAD_BYTES = 32 * 1024;
const TAIL_BYTES = 32 * 1024;

/** Collects bytes in bounded memory. */
export class ClippedOutput {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  /** Bytes that were added, also those that are gone. */
  get total(): number {
    return this.#total;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = HEAD_BYTES - this.#headBytes;
    if (room > 0) {
      this.#head.push(chunk.subarray(0, room));
      this.#headBytes += Math.min(room, chunk.length);
    }
    if (chunk.length > room) this.#addToTail(chunk.subarray(Math.max(0, room)));
  }

  /** The text: whole when it has at most 64 KiB, else 32 KiB of its beginning and of its end around a line that says how much is missing. */
  text(): string {
    const kept = this.#tail.length === 0 ? Buffer.alloc(0) : Buffer.concat(this.#tail).subarray(-TAIL_BYTES);
    const omitted = this.#total - this.#headBytes - kept.length;
    if (omitted === 0) return decoded(Buffer.concat([...this.#head, kept]));
    const start = decoded(Buffer.concat(this.#head), false);
    return `${start}\n[${omitted} bytes are left out here]\n${decoded(kept.subarray(partialCharacter(kept)))}`;
  }

  #addToTail(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    // Many small chunks would cost more than their bytes.
    if (this.#tailBytes < 2 * TAIL_BYTES) return;
    const kept = Buffer.from(Buffer.concat(this.#tail).subarray(-TAIL_BYTES));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}

/** @param whole  false: a character that is cut at the end is left out instead of shown as a replacement */
function decoded(bytes: Buffer, whole = true): string {
  const decoder = new StringDecoder('utf8');
  const text = decoder.write(bytes);
  return whole ? text + decoder.end() : text;
}

/** How many bytes at the beginning belong to a character that was cut. */
function partialCharacter(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}
