/** JSON whose long texts are given beside it: SQLite puts them in, and they are not copied into a text of their own in memory first. */

/** From here on, in UTF-16 units, a text is taken out. */
const LONG = 64 * 1024;
/** More of them, or deeper ones, are no shape that a step's value has. */
const MAX_TEXTS = 16;
const MAX_DEPTH = 32;
/** Keys that a JSON path of SQLite names without quotes. */
const PLAIN_KEY = /^[A-Za-z_]\w*$/;
/** Half a character can be written in JSON, and not be given to SQLite. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** `json` holds "" wherever a text belongs; a path is one of SQLite's, e.g. "$.reply.content". */
export interface PartedJson {
  readonly json: string;
  readonly texts: readonly (readonly [path: string, text: string])[];
}

/** A value that survives JSON, with its long texts apart. Nothing is apart in a value that has none, too many, or any too deep. */
export function partedJson(value: unknown): PartedJson {
  const texts: [string, string][] = [];
  const rest = withoutTexts(value, '$', MAX_DEPTH, texts);
  if (texts.length === 0 || texts.length > MAX_TEXTS) return { json: JSON.stringify(value) ?? 'null', texts: [] };
  return { json: JSON.stringify(rest), texts };
}

/** The value itself as long as nothing in it is taken out. */
function withoutTexts(value: unknown, path: string, depth: number, texts: [string, string][]): unknown {
  if (typeof value === 'string') {
    if (value.length < LONG || LONE_SURROGATE.test(value)) return value;
    texts.push([path, value]);
    return '';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, held] of Object.entries(value)) {
    if (!PLAIN_KEY.test(key) || key === '__proto__') continue;
    const rest = withoutTexts(held, `${path}.${key}`, depth - 1, texts);
    if (rest !== held) (copy ??= { ...(value as Record<string, unknown>) })[key] = rest;
  }
  return copy ?? value;
}
