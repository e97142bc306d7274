/** Replacing one passage of a text that is left alone otherwise. */
import { FileProblem, printable } from '../outside/contract.ts';
import { textOf } from './text-page.ts';

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const MAX_COUNTED = 100;

/** A passage and what takes its place. */
export interface Replacement {
  readonly oldString: string;
  readonly newString: string;
}

/**
 * The file with the one passage replaced. In a file whose lines all end with CR LF, line breaks of the passage and of what replaces it are
 * taken for those; a byte order mark stays.
 *
 * Throws FileProblem when the passage is missing or occurs more than once, overlaps counted, and for what is no UTF-8 text.
 */
export function withReplacement(bytes: Uint8Array, path: string, { oldString, newString }: Replacement): Uint8Array {
  const text = textOf(bytes, path);
  const adapted = hasOnlyCrLf(text) ? withCrLf : (part: string): string => part;
  const passage = adapted(oldString);
  const start = text.indexOf(passage);
  if (start < 0) {
    throw new FileProblem(
      `oldString does not occur; it must be the text as it stands in the file, white space included: ${printable(path)}`,
    );
  }
  const count = countFrom(text, passage, start);
  if (count > 1) {
    const times = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : `${count}`;
    throw new FileProblem(
      `oldString occurs more than once (${times} times); take in neighbouring lines to make it unique: ${printable(path)}`,
    );
  }
  const edited = Buffer.from(text.slice(0, start) + adapted(newString) + text.slice(start + passage.length));
  return MARK.equals(bytes.subarray(0, MARK.length)) ? Buffer.concat([MARK, edited]) : edited;
}

/** Occurrences from the first one on; counting ends when there are too many to matter. */
function countFrom(text: string, passage: string, first: number): number {
  let count = 0;
  for (let at = first; at >= 0 && count <= MAX_COUNTED; at = text.indexOf(passage, at + 1)) count += 1;
  return count;
}

const hasOnlyCrLf = (text: string): boolean => text.includes('\r\n') && !/(^|[^\r])\n/.test(text);

const withCrLf = (part: string): string => part.replace(/\r?\n/g, () => '\r\n');
