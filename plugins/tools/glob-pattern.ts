/** Glob patterns, matched without backtracking into time that explodes: what a model writes is never a regular expression here. */

/** A compiled pattern. Paths are relative, with "/". */
export interface GlobPattern {
  readonly matches: (path: string) => boolean;
  /** Whether a file below this directory could match. */
  readonly mayMatchBelow: (directory: string) => boolean;
}

/** A pattern that means nothing. The message is the end of a sentence: "has a [ that is never closed". */
export class GlobProblem extends Error {
  override readonly name = 'GlobProblem';
}

type Token = { readonly kind: 'any' | 'star' } | CharacterTest;
interface CharacterTest {
  readonly kind: 'character';
  is(character: string): boolean;
}
/** One name of the pattern; "**" stands for any number of names. */
type Segment = '**' | readonly Token[];

const MAX_LENGTH = 512;
const MAX_ALTERNATIVES = 32;

/**
 * Understands `*` and `?` within a name, `**` for any number of directories (none too, so that it also finds what is at the top), `[a-z]`,
 * `[!a-z]`, `{a,b}`, and `\` before a character that means itself. A leading dot is a character like any other, case counts, and no
 * pattern leads upwards.
 *
 * Throws GlobProblem for what is not closed, for more than 512 characters, and for more than 32 alternatives.
 */
export function globPattern(text: string): GlobPattern {
  if (text.length > MAX_LENGTH) throw new GlobProblem(`is longer than ${MAX_LENGTH} characters`);
  const alternatives = alternativesOf(text.replace(/^(\.\/)+/, '')).map(segmentsOf);
  return {
    matches: (path) => alternatives.some((segments) => isMatch(segments, path.split('/'))),
    mayMatchBelow: (directory) => alternatives.some((segments) => mayBegin(segments, directory.split('/'))),
  };
}

/** The text once for every choice that its braces leave. */
function alternativesOf(text: string): readonly string[] {
  const open = indexOutside(text, '{', 0);
  if (open < 0) return [text];
  const { choices, end } = choicesAt(text, open + 1);
  const rests = alternativesOf(text.slice(end));
  const whole = choices.flatMap(alternativesOf).flatMap((choice) => rests.map((rest) => text.slice(0, open) + choice + rest));
  if (whole.length > MAX_ALTERNATIVES) throw new GlobProblem(`has more than ${MAX_ALTERNATIVES} alternatives`);
  return whole;
}

/** The parts between an opening brace and the one that closes it, and where the text goes on. */
function choicesAt(text: string, start: number): { readonly choices: readonly string[]; readonly end: number } {
  const choices: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < text.length; at = after(text, at)) {
    const character = text[at];
    if (character === '{') depth += 1;
    if (depth === 0 && (character === ',' || character === '}')) {
      choices.push(text.slice(from, at));
      from = at + 1;
      if (character === '}') return { choices, end: from };
    }
    if (character === '}') depth -= 1;
  }
  throw new GlobProblem('has a { that is never closed');
}

/** Where `wanted` stands and means something, -1 for nowhere. */
function indexOutside(text: string, wanted: string, start: number): number {
  for (let at = start; at < text.length; at = after(text, at)) if (text[at] === wanted) return at;
  return -1;
}

/** The position behind the character, escape or bracket that begins at `at`. */
function after(text: string, at: number): number {
  if (text[at] === '\\') return at + 2;
  return text[at] === '[' ? closingBracket(text, at) + 1 : at + 1;
}

function closingBracket(text: string, open: number): number {
  const first = text[open + 1] === '!' || text[open + 1] === '^' ? open + 2 : open + 1;
  const close = text.indexOf(']', first + 1);
  if (close < 0) throw new GlobProblem('has a [ that is never closed');
  return close;
}

function segmentsOf(text: string): readonly Segment[] {
  const names = text.split('/');
  // "a/**" means what is below a, and not a file called a.
  if (names.at(-1) === '**') names.push('*');
  return names.map((name) => (name === '**' ? '**' : tokensOf(name)));
}

function tokensOf(name: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; ) {
    const isEscape = name[at] === '\\' && at + 1 < name.length;
    const character = characterAt(name, isEscape ? at + 1 : at);
    const end = isEscape ? at + 1 + character.length : Math.max(after(name, at), at + character.length);
    if (!isEscape && character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (!isEscape && character === '?') tokens.push({ kind: 'any' });
    else if (!isEscape && character === '[') tokens.push(setOf(name.slice(at + 1, end - 1)));
    else tokens.push({ kind: 'character', is: (other) => other === character });
    at = end;
  }
  return tokens;
}

const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0);

function setOf(text: string): CharacterTest {
  const isNegated = text.startsWith('!') || text.startsWith('^');
  const members = Array.from(isNegated ? text.slice(1) : text);
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const [first = '', dash, last] = members.slice(at, at + 3);
    const isRange = dash === '-' && last !== undefined;
    ranges.push([first, isRange ? last : first]);
    if (isRange) at += 2;
  }
  return { kind: 'character', is: (character) => ranges.some(([low, high]) => low <= character && character <= high) !== isNegated };
}

/** Whole path against whole pattern: a mismatch goes back to the last "**" only, which then takes one name more. */
function isMatch(segments: readonly Segment[], names: readonly string[]): boolean {
  return isCovered(
    segments,
    names,
    (segment) => segment === '**',
    (segment, name) => segment !== '**' && isName(segment, name),
  );
}

function isName(tokens: readonly Token[], name: string): boolean {
  return isCovered(
    tokens,
    Array.from(name),
    ({ kind }) => kind === 'star',
    (token, character) => token.kind !== 'character' || token.is(character),
  );
}

/** Two pointers and one place to go back to: at most pattern × subject steps. */
function isCovered<P, S>(
  pattern: readonly P[],
  subject: readonly S[],
  isStar: (part: P) => boolean,
  fits: (part: P, item: S) => boolean,
): boolean {
  let [p, s, star, taken] = [0, 0, -1, 0];
  while (s < subject.length) {
    const part = pattern[p];
    if (part !== undefined && isStar(part)) {
      [star, taken] = [p, s];
      p += 1;
    } else if (part !== undefined && fits(part, subject[s] as S)) {
      p += 1;
      s += 1;
    } else {
      if (star < 0) return false;
      taken += 1;
      [p, s] = [star + 1, taken];
    }
  }
  return pattern.slice(p).every(isStar);
}

function mayBegin(segments: readonly Segment[], names: readonly string[]): boolean {
  for (const [index, name] of names.entries()) {
    const segment = segments[index];
    if (segment === '**') return true;
    if (segment === undefined || !isName(segment, name)) return false;
  }
  return segments.length > names.length;
}
