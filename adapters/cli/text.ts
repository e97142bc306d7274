/** Text of servers and models, made fit for a terminal. */

const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const ZERO_WIDTH = /[\p{M}\p{Cf}]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Keeps line breaks and tabs, drops carriage returns, and shows every other control character as an escape: no text can drive the terminal. */
export function blockText(text: string): string {
  return text.replaceAll('\r', '').replace(CONTROL, (found) => (found === '\n' || found === '\t' ? found : escaped(found)));
}

/** Like `blockText`, on one line: breaks and tabs become blanks. */
export function lineText(text: string): string {
  return blockText(text).replace(/[\n\t]+/g, ' ');
}

/** JSON for people and programs; control characters that JSON itself lets through are escaped. */
export function jsonText(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? 'null').replace(CONTROL, (found) => (found === '\n' ? found : unicodeEscape(found)));
}

/** Columns that a text takes on a terminal: two for East Asian wide characters and emoji, none for marks. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (ZERO_WIDTH.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** The text cut to so many columns, with an ellipsis when something is missing. */
export function cutTo(columns: number, text: string): string {
  if (columnsOf(text) <= columns) return text;
  let cut = '';
  let used = 1;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) break;
    cut += character;
  }
  return `${cut}…`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xff ? unicodeEscape(character) : `\\x${code.toString(16).padStart(2, '0')}`;
}

function unicodeEscape(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
