/** From here on, in UTF-16 units, Node keeps a text that is read from a buffer outside of V8's heap. */
const LONG = 1024 * 1024;
/** A character that Latin-1 does not have. */
const WIDE = /[^\0-\xff]/;

/**
 * The pieces as one text. A long one lies outside of V8's heap, whose collector then knows how much there is: inside, it lets the heap grow to
 * several times its size before it looks for what is left of the pieces.
 */
export function joinedText(pieces: readonly string[]): string {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length < LONG) return pieces.join('');
  const isNarrow = !pieces.some((piece) => WIDE.test(piece));
  const encoding = isNarrow ? 'latin1' : 'utf16le';
  const bytes = Buffer.allocUnsafeSlow(isNarrow ? length : length * 2);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at, encoding);
  return bytes.toString(encoding);
}
