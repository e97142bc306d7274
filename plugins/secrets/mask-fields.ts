import { SECRET_NAME } from './secret-name.ts';
import { masked } from './masked.ts';

/** A name, the quote that closes it (with the backslashes of JSON inside JSON), and what separates it from its value. */
const NAME = new RegExp(`(?:${SECRET_NAME})(\\\\{0,7}["'])?[ \\t]*(=>|[:=])[ \\t]*`, 'gi');
const BLOCK_SCALAR = /[|>][+-]?[ \t]*\r?\n[ \t]*/y;
const QUOTE = /(\\{0,7})(["'])/y;
const REST_OF_LINE = /[^\r\n"'[\]{}]+/y;
const BARE = /(?:(?:bearer|basic|token)[ \t]+)?[^\s"'`,;&<>()[\]{}\\]+/iy;
const NO_SECRET = /^(?:null|true|false|undefined|none|~)$/i;
const NAME_CHARACTER = /[A-Za-z0-9_.-]/;

/** Where a value stands, and the quotes that it needs when it gets none of its own (a number in JSON). */
interface Value {
  readonly start: number;
  readonly end: number;
}

/** Hides the values of fields whose names say that they are secret, in JSON (nested in strings too), forms, YAML and `key=value` text. */
export function maskFields(text: string): string {
  const parts: string[] = [];
  let done = 0;
  NAME.lastIndex = 0;
  for (let name = NAME.exec(text); name; name = NAME.exec(text)) {
    const [, closingQuote = '', separator = ''] = name;
    const quoted = quotedValue(text, NAME.lastIndex);
    const value = quoted ?? bareValue(text, NAME.lastIndex, separator === ':' && closingQuote === '' && beginsLine(text, name.index));
    if (value === undefined) continue;
    const secret = text.slice(value.start, value.end);
    NAME.lastIndex = value.end;
    if (secret === '' || NO_SECRET.test(secret)) continue;
    const quote = quoted === undefined && separator === ':' ? closingQuote : '';
    parts.push(text.slice(done, value.start), quote, masked(secret), quote);
    done = value.end;
  }
  return done === 0 ? text : parts.join('') + text.slice(done);
}

/**
 * A value in quotes ends at the same quote with the same number of backslashes before it: with k of them around a string, quotes inside have
 * k + m · 2(k + 1). One with fewer belongs to the string around. A value without end, in a text that was cut off, ends with its line.
 */
function quotedValue(text: string, at: number): Value | undefined {
  const open = match(QUOTE, text, at);
  if (open === undefined) return undefined;
  const [all, { length: depth } = '', quote] = open;
  const start = at + all.length;
  let backslashes = 0;
  let otherQuote: number | undefined;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\n') return { start, end: otherQuote ?? index };
    if (character === '"' && quote === "'" && backslashes === 0) otherQuote ??= index;
    if (character === quote && (backslashes < depth || backslashes % (2 * (depth + 1)) === depth)) {
      if (quote !== "'" || depth > 0 || text[index + 1] !== "'") return { start, end: index - Math.min(backslashes, depth) };
      // YAML and SQL write an apostrophe inside apostrophes twice.
      index += 1;
    }
    backslashes = character === '\\' ? backslashes + 1 : 0;
  }
  return { start, end: otherQuote ?? text.length };
}

function bareValue(text: string, at: number, wholeLine: boolean): Value | undefined {
  const start = at + (match(BLOCK_SCALAR, text, at)?.[0].length ?? 0);
  const found = match(wholeLine ? REST_OF_LINE : BARE, text, start)?.[0].trimEnd();
  return found ? { start, end: start + found.length } : undefined;
}

/** Whether only the name's own first part, a list mark or spaces stand before it in its line: then it is YAML or a header. */
function beginsLine(text: string, at: number): boolean {
  let index = at - 1;
  while (index >= 0 && NAME_CHARACTER.test(text[index] ?? '')) index -= 1;
  while (index >= 0 && (text[index] === ' ' || text[index] === '\t' || text[index] === '-')) index -= 1;
  return index < 0 || text[index] === '\n';
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
