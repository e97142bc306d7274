/** Which lines of a text match a regular expression that a model wrote: RE2 syntax, matched in linear time. */
import { RE2JS } from 're2js';

/** What is looked for. */
export interface LinePattern {
  readonly text: string;
  readonly ignoreCase: boolean;
  /** The text is meant as it stands, it is no regular expression. */
  readonly fixed: boolean;
}

/** A line that matches; a long one is cut around the match. */
export interface FoundLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** Finds the first `max` matching lines. Bytes that are no UTF-8 text, or hold a NUL, have none. */
export type LineMatcher = (bytes: Uint8Array, max: number) => readonly FoundLine[];

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const MAX_LINE_CHARS = 500;
const CHARS_BEFORE = 100;

/** Compiles a pattern. Throws an Error whose message tells what is wrong with it. */
export function lineMatcher({ text, ignoreCase, fixed }: LinePattern): LineMatcher {
  const pattern = RE2JS.compile(fixed ? RE2JS.quote(text) : text, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  return (bytes, max) => {
    const lines = textOf(bytes)?.split('\n') ?? [];
    // A line break at the end begins no other line.
    if (lines.at(-1) === '') lines.pop();
    const found: FoundLine[] = [];
    for (const [index, whole] of lines.entries()) {
      if (found.length === max) break;
      const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
      if (pattern.test(line)) found.push({ number: index + 1, text: shortened(line, pattern) });
    }
    return found;
  };
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function shortened(line: string, pattern: RE2JS): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const matcher = pattern.matcher(line);
  const start = matcher.find() ? Math.max(0, matcher.start() - CHARS_BEFORE) : 0;
  const end = start + MAX_LINE_CHARS;
  // Buffers replace half a character at either end.
  const part = Buffer.from(line.slice(start, end)).toString();
  return `${start > 0 ? '[...]' : ''}${part}${end < line.length ? '[...]' : ''}`;
}
