/** Unpacks bodies piece by piece, so that whoever counts the pieces can stop a bomb. */
import { pipeline, Readable } from 'node:stream';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HttpProblem } from './contract.ts';

/**
 * The body without its content encoding. Throws HttpProblem at once for an encoding that is not known or for several, and while it is read
 * when the packed data are damaged.
 */
export function unpacked(body: AsyncIterable<Uint8Array>, encoding = ''): AsyncIterable<Uint8Array> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name === 'gzip' || name === 'x-gzip') return through(body, () => createGunzip());
  if (name === 'br') return through(body, () => createBrotliDecompress());
  // Many servers leave out the header that RFC 9110 asks for; its first byte says whether it is there.
  if (name === 'deflate') return through(body, (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()));
  throw new HttpProblem('The answer is packed in a way that is not supported (one layer of gzip, deflate or br is)');
}

async function* through(body: AsyncIterable<Uint8Array>, unpacker: (first: Uint8Array) => Transform): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done === true) return;
  const transform = unpacker(first.value);
  const packed = Readable.from(rest(first.value, pieces), { objectMode: false });
  // Errors of either side come out of the iteration below.
  pipeline(packed, transform, () => {});
  try {
    yield* transform as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new HttpProblem('The packed body of the answer is damaged or incomplete', { cause: error });
  }
}

async function* rest(first: Uint8Array, others: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await others.next(); next.done !== true; next = await others.next()) yield next.value;
}

const isDamage = (error: unknown): boolean => /^(Z_|ERR__|ERR_BROTLI)/.test(String((error as { readonly code?: unknown })?.code));
