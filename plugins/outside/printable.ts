/** Names on their way into messages and listings. */

/** C0, DEL, C1, line and paragraph separators, and the marks that reorder text. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** True when a name holds a character that could forge a line or hide its end. */
export const hasControlCharacters = (text: string): boolean => text.search(UNPRINTABLE) >= 0;

/** The text with every such character written as `\uXXXX`, so that it stays on one line and reads as what it is. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
