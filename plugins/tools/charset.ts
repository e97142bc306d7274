/** Bytes from the network to text, by the encoding that they declare. */
import { TextDecoder } from 'node:util';

const CHARSET = /charset\s*=\s*["']?\s*([^\s"';>]+)/i;
/** How far into a page its declaration is looked for. */
const PRESCAN_BYTES = 4096;

/** The encoding that a header `Content-Type` declares. */
export const charsetOf = (contentType = ''): string | undefined => CHARSET.exec(contentType)?.[1];

/** The encoding that a page declares in a `<meta>` near its beginning. */
export function charsetInPage(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PRESCAN_BYTES)).toString('latin1');
  const label = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"';>/]+)/i.exec(start)?.[1];
  // A declaration that could be read as ASCII is not in UTF-16, whatever it says.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

/**
 * The text in an encoding by its label; UTF-8 for one that is not known. A byte order mark wins over the label. What is malformed becomes
 * U+FFFD; a character that is cut off at the end is left out.
 */
export function decoded(bytes: Uint8Array, label: string | undefined): string {
  return decoderFor(markOf(bytes) ?? label).decode(bytes, { stream: true });
}

function decoderFor(label = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    // The WHATWG list of labels has no such encoding.
    return new TextDecoder();
  }
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}
