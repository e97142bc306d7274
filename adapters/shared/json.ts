/** Reading JSON that a stranger wrote. */

/** What `JSON.parse` makes of an object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object: not null, not an array. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The parsed object; undefined for anything else. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The member as an object; an empty one when it is missing or something else. */
export function objectAt(from: JsonObject, key: string): JsonObject {
  const value = from[key];
  return isObject(value) ? value : {};
}

/** The objects in a list; none when it is no list. */
export function objectsAt(from: JsonObject, key: string): readonly JsonObject[] {
  const value = from[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The member as a text that is not empty; undefined for anything else. */
export function textAt(from: JsonObject, key: string): string | undefined {
  const value = from[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Bytes of the value as JSON in UTF-8, escapes included. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
