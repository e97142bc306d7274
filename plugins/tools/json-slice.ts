/** Finds a value inside JSON text without building objects: numbers keep every digit and no name has a special meaning. */
import type { PathStep } from './json-path.ts';

const SPACES = new Set([' ', '\t', '\n', '\r']);
const SCALAR_ENDS = new Set([...SPACES, ',', ']', '}']);

/**
 * The text of the value at a path, as it is written; undefined when there is none. Of members with the same name the last one counts.
 *
 * @param json  valid JSON
 */
export function sliceAt(json: string, steps: readonly PathStep[]): string | undefined {
  let start = afterSpace(json, 0);
  for (const step of steps) {
    const found = json[start] === '{' ? memberAt(json, start, step) : itemAt(json, start, step);
    if (found === undefined) return undefined;
    start = found;
  }
  return json.slice(start, valueEnd(json, start));
}

/** JSON text without blanks between its tokens. */
export function compact(json: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (character === '"') at = stringEnd(json, at) - 1;
    if (!SPACES.has(character)) continue;
    kept.push(json.slice(from, at));
    from = at + 1;
  }
  return kept.join('') + json.slice(from);
}

function memberAt(json: string, object: number, step: PathStep): number | undefined {
  if (!('name' in step)) return undefined;
  let found: number | undefined;
  let at = afterSpace(json, object + 1);
  while (json[at] === '"') {
    const nameEnd = stringEnd(json, at);
    const value = afterSpace(json, afterSpace(json, nameEnd) + 1);
    if (JSON.parse(json.slice(at, nameEnd)) === step.name) found = value;
    at = nextItem(json, value);
  }
  return found;
}

function itemAt(json: string, list: number, step: PathStep): number | undefined {
  if (json[list] !== '[') return undefined;
  const index = 'index' in step ? step.index : indexFrom(step.name);
  let at = afterSpace(json, list + 1);
  for (let left = index; json[at] !== ']' && at < json.length; left -= 1) {
    if (left === 0) return at;
    at = nextItem(json, at);
  }
  return undefined;
}

const indexFrom = (name: string): number => (/^\d{1,9}$/.test(name) ? Number(name) : -1);

/** Where the item after the value at `at` begins, or the closing bracket. */
function nextItem(json: string, at: number): number {
  const end = afterSpace(json, valueEnd(json, at));
  return json[end] === ',' ? afterSpace(json, end + 1) : end;
}

function valueEnd(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return stringEnd(json, start);
  if (first !== '{' && first !== '[') return scalarEnd(json, start);
  // Counting instead of recursion: the text decides how deep it is nested.
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') at = stringEnd(json, at) - 1;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return json.length;
}

/** Index after the string that begins at `start`: a quote ends it unless an odd number of backslashes stands before. */
function stringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (json[before] === '\\') before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return json.length;
}

function afterSpace(json: string, at: number): number {
  let end = at;
  while (SPACES.has(json.charAt(end))) end += 1;
  return end;
}

function scalarEnd(json: string, start: number): number {
  let end = start;
  while (end < json.length && !SCALAR_ENDS.has(json.charAt(end))) end += 1;
  return end;
}
