/** Reading JSON that a stranger wrote. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object: not null, not an array. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The member as an object, or undefined. */
export function objectAt(value: unknown, key: string): JsonObject | undefined {
  const member = isObject(value) ? value[key] : undefined;
  return isObject(member) ? member : undefined;
}

/** The parsed text, or undefined when it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
