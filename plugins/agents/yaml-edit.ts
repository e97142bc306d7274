/** Changes single values of a YAML map and leaves every other character as it is. */
import { type Document, isMap, isNode, isScalar, type Pair, type YAMLMap } from 'yaml';
import { readYaml } from './yaml-source.ts';

/** Sets the text at `path` (at most two keys), or removes the key when `value` is null. */
export interface YamlChange {
  readonly path: readonly [string] | readonly [string, string];
  readonly value: string | null;
}

/** Replaces `source[from, to)` by `text`. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * How to make `change` in `source`, which uses "\n" line ends. A value is replaced where it stands; a new key goes behind the key `name`,
 * or behind the last one. Undefined when the map has a form that cannot be edited without rewriting it.
 */
export function spliceFor(source: string, { path, value }: YamlChange): Splice | undefined {
  const reading = readYaml(source);
  if (!reading.ok) return undefined;
  const map = mapOf(reading.document, path);
  if (map === undefined) return undefined;
  const key = path[path.length - 1] ?? '';
  const pair = pairOf(map, key);
  if (pair === undefined) return value === null ? { from: 0, to: 0, text: '' } : insertion(source, map, key, value);
  return value === null ? removal(source, map, pair) : replacement(source, pair, value);
}

function mapOf(document: Document.Parsed, path: YamlChange['path']): YAMLMap | undefined {
  const { contents } = document;
  if (!isMap(contents)) return undefined;
  if (path.length === 1) return contents;
  const inner = pairOf(contents, path[0])?.value;
  return isMap(inner) ? inner : undefined;
}

const pairOf = (map: YAMLMap, key: string): Pair | undefined => map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);

function replacement(source: string, pair: Pair, value: string): Splice | undefined {
  if (!isNode(pair.value) || !pair.value.range) return undefined;
  const [from, to] = pair.value.range;
  if (from === to) {
    // "key:" without a value: the text goes behind the colon.
    const colon = isNode(pair.key) && pair.key.range ? source.indexOf(':', pair.key.range[1]) : -1;
    return colon < 0 ? undefined : { from: colon + 1, to: colon + 1, text: ` ${scalar(value)}` };
  }
  // A block scalar (| or >) ends with its line.
  const lineEnd = source.slice(from, to).endsWith('\n') ? '\n' : '';
  return { from, to, text: `${scalar(value)}${lineEnd}` };
}

function insertion(source: string, map: YAMLMap, key: string, value: string): Splice | undefined {
  const after = pairOf(map, 'name') ?? map.items[map.items.length - 1];
  if (after === undefined || !isNode(after.key) || !after.key.range) return undefined;
  const text = `${key}: ${scalar(value)}`;
  if (map.flow) {
    const end = isNode(after.value) && after.value.range ? after.value.range[1] : after.key.range[1];
    return { from: end, to: end, text: `, ${text}` };
  }
  const end = lineAfter(source, after);
  const indent = source.slice(source.lastIndexOf('\n', after.key.range[0] - 1) + 1, after.key.range[0]);
  if (end === undefined || indent.trim() !== '') return undefined;
  return source[end - 1] === '\n' ? { from: end, to: end, text: `${indent}${text}\n` } : { from: end, to: end, text: `\n${indent}${text}` };
}

function removal(source: string, map: YAMLMap, pair: Pair): Splice | undefined {
  if (map.flow || !isNode(pair.key) || !pair.key.range) return undefined;
  const from = source.lastIndexOf('\n', pair.key.range[0] - 1) + 1;
  const to = lineAfter(source, pair);
  return to === undefined || source.slice(from, pair.key.range[0]).trim() !== '' ? undefined : { from, to, text: '' };
}

/** Offset of the line after the pair's value and its comment. */
function lineAfter(source: string, pair: Pair): number | undefined {
  const last = isNode(pair.value) && pair.value.range && pair.value.range[1] > pair.value.range[0] ? pair.value : pair.key;
  if (!isNode(last) || !last.range) return undefined;
  const end = last.range[1];
  if (source[end - 1] === '\n') return end;
  const next = source.indexOf('\n', end);
  return next < 0 ? source.length : next + 1;
}

const PLAIN = /^[\p{L}_][\p{L}\p{N}_./ -]*$/u;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Text as a YAML scalar on one line: plain where that is safe, else in double quotes, whose escapes are those of JSON. */
function scalar(value: string): string {
  return PLAIN.test(value) && !value.endsWith(' ') && !RESERVED.test(value) ? value : JSON.stringify(value);
}
