/** YAML front matter, read without ever running or trusting what stands in it. */
import matter from 'gray-matter';
import { type Document, isAlias, isMap, isNode, isPair, isScalar, isSeq } from 'yaml';
import type { FrontMatter, FrontMatterResult, TextPosition } from './contract.ts';
import { readYaml } from './yaml-source.ts';

const MAX_YAML_BYTES = 64 * 1024;
const MAX_DEPTH = 64;
const YAML_LINE = 2;

class Fault extends Error {
  readonly position: TextPosition;
  constructor(message: string, position: TextPosition) {
    super(message);
    this.position = position;
  }
}

/**
 * Reads a file that starts with YAML front matter. CRLF and CR count as line ends, a byte order mark is skipped; lines and columns are
 * those of the file. The first line must be exactly `---`: nothing but YAML is read, and code in it is never run. Never throws.
 */
export function parseFrontMatter(raw: string): FrontMatterResult {
  const text = raw.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const misplaced = fenceFault(text);
  if (misplaced !== undefined) return { ok: false, problem: misplaced };
  let reading: YamlPart | undefined;
  const refuse = (): never => {
    throw new Fault('only YAML front matter is allowed', { line: 1, column: 1 });
  };
  try {
    // Options also switch off the library's cache, which would answer a text with the wreck of an earlier failure.
    matter(text, {
      language: 'yaml',
      engines: {
        yaml: { parse: (source: string) => (reading = yamlPart(source)).data, stringify: String },
        javascript: { parse: refuse },
        json: { parse: refuse },
        coffee: { parse: refuse },
      },
    });
    const { data, positionOf, warnings } = reading ?? EMPTY;
    return { ok: true, matter: { data, body: bodyOf(text), yamlLine: YAML_LINE, positionOf, warnings } };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, problem: { message: error.message, ...error.position } };
    throw error;
  }
}

interface YamlPart extends Pick<FrontMatter, 'positionOf' | 'warnings'> {
  readonly data: Record<string, unknown>;
}

const EMPTY: YamlPart = {
  data: Object.freeze(Object.create(null)) as Record<string, unknown>,
  positionOf: () => ({ line: 1, column: 1 }),
  warnings: [],
};

type Problem = TextPosition & { readonly message: string };

/** Checks the two `---` lines: the reader behind this would also accept `---js`, a missing end and an end like `---x`. */
function fenceFault(text: string): Problem | undefined {
  if (text.trim() === '') return { message: 'the file is empty: it must start with a line "---"', line: 1, column: 1 };
  if (!text.startsWith('---\n')) {
    return { message: 'the first line must be exactly "---", followed by YAML and another line "---"', line: 1, column: 1 };
  }
  const end = text.slice(3).search(/\n---[ \t]*(\n|$)/) + 3;
  if (end < 3) return { message: 'the front matter has no end: add a line "---" after the last key', line: 1, column: 1 };
  const dashes = text.indexOf('\n---', 3);
  if (dashes < end) {
    return { message: 'a line of the front matter starts with "---": put the text in quotes', line: lineAt(text, dashes + 1), column: 1 };
  }
  if (Buffer.byteLength(text.slice(0, end)) > MAX_YAML_BYTES) {
    return { message: `the front matter is larger than ${MAX_YAML_BYTES / 1024} KB`, line: 1, column: 1 };
  }
  return undefined;
}

/** All after the second line of dashes, which may end in blanks. */
const bodyOf = (text: string): string => text.slice(3).replace(/^[^]*?\n---[ \t]*(\n|$)/, '');

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `source` begins with the line end of the first line, so its line 2 is the file's line 2. */
function yamlPart(source: string): YamlPart {
  const reading = readYaml(source);
  const at = (offset: number): TextPosition => {
    const { line, col } = reading.lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  if (!reading.ok) throw new Fault(reading.fault.message, at(reading.fault.offset));
  const { document, value } = reading;
  const positionOf = (path: readonly (string | number)[]): TextPosition => at(offsetOf(document, path));
  if (value !== null && !isMap(document.contents)) throw new Fault('the front matter must be a map of keys and values', at(1));
  return {
    data: value === null ? EMPTY.data : (plain(value, 0, at(1)) as Record<string, unknown>),
    positionOf,
    warnings: reading.warnings.map(({ message, offset }) => `line ${at(offset).line}: ${message}`),
  };
}

/** A frozen copy without prototypes; a key `__proto__` is left out, since an assignment somewhere later could give it its old power. */
function plain(value: unknown, depth: number, position: TextPosition): unknown {
  if (depth > MAX_DEPTH) throw new Fault('an alias refers to itself, or nests lists and maps too deeply', position);
  if (Array.isArray(value)) return Object.freeze(value.map((item) => plain(item, depth + 1, position)));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) {
    if (key !== '__proto__') copy[key] = plain(item, depth + 1, position);
  }
  return Object.freeze(copy);
}

/** Offset of the key or list item at the end of `path`, or of the last one on the way that exists. */
function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  let offset = 1;
  let node: unknown = document.contents;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    const found = isMap(node)
      ? node.items.find((pair) => isPair(pair) && isScalar(pair.key) && String(pair.key.value) === String(step))
      : isSeq(node)
        ? node.items[Number(step)]
        : undefined;
    if (found === undefined) return offset;
    const place = isPair(found) ? found.key : found;
    if (isNode(place) && place.range) offset = place.range[0];
    node = isPair(found) ? found.value : found;
  }
  return offset;
}
