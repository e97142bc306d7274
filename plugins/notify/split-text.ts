/** Cuts a long message into parts that a receiver takes. */
import { type TextBlock, textBlocks } from './text-blocks.ts';

const FIRST_GUESS_CHARS = 1_024;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The parts of `text` from the offset `from` on, each as long as `fits` allows; one after the other they are the text. The same offset gives
 * the same parts, so one can go on where another call has stopped.
 *
 * Cut is, by preference: outside of code fences and tables that would fit into one part; behind a line; behind a word; between graphemes; never
 * inside of a code point. A single code point that does not fit is a part all the same.
 *
 * @param fits  true for the texts that are short enough; must be true for every beginning of such a text
 */
export function splitText(text: string, fits: (part: string) => boolean, from = 0): readonly string[] {
  const parts: string[] = [];
  const blocks = textBlocks(text);
  let passed = 0;
  let guess = FIRST_GUESS_CHARS;
  for (let start = from; start < text.length; ) {
    const reach = furthest(text, start, guess, fits);
    while ((blocks[passed]?.end ?? Infinity) <= start) passed += 1;
    const end = reach === text.length ? reach : cutBefore(text, start, reach, blockAround(blocks, passed, reach), fits);
    parts.push(text.slice(start, end));
    guess = reach - start;
    start = end;
  }
  return parts;
}

/** The largest end of a part that fits, found in steps that double and then halve; behind the first code point at least. */
function furthest(text: string, start: number, guess: number, fits: (part: string) => boolean): number {
  let good = start;
  let bad = text.length + 1;
  for (let step = guess; bad > text.length; step *= 2) {
    const at = Math.min(text.length, start + step);
    if (!fits(text.slice(start, at))) bad = at;
    else if (at === text.length) return at;
    else good = at;
  }
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (fits(text.slice(start, middle))) good = middle;
    else bad = middle;
  }
  if (isInsidePair(text, good)) good -= 1;
  return good > start ? good : start + String.fromCodePoint(text.codePointAt(start) ?? 0).length;
}

/** The block that a cut at `at` would tear. */
function blockAround(blocks: readonly TextBlock[], first: number, at: number): TextBlock | undefined {
  for (let index = first; ; index += 1) {
    const block = blocks[index];
    if (block === undefined || block.start >= at) return undefined;
    if (block.end > at) return block;
  }
}

function cutBefore(text: string, start: number, end: number, block: TextBlock | undefined, fits: (part: string) => boolean): number {
  if (block !== undefined && block.start > start && fits(text.slice(block.start, block.end))) return block.start;
  const line = text.slice(start, end).lastIndexOf('\n');
  return line >= 0 ? start + line + 1 : cutInLine(text, start, end);
}

/** Behind a space in the second half of the part, else between two graphemes, else where the part is full. */
function cutInLine(text: string, start: number, end: number): number {
  let space = end;
  const half = start + ((end - start) >> 1);
  while (space > half && !/\s/.test(text[space - 1] ?? '')) space -= 1;
  const at = space > half ? space : end;
  // The character behind the cut decides whether it belongs to the one before.
  const around = text.slice(start, at + 2);
  const boundary = start + (graphemes.segment(around).containing(at - start)?.index ?? 0);
  return boundary > start ? boundary : end;
}

function isInsidePair(text: string, at: number): boolean {
  const [before, behind] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff;
}
