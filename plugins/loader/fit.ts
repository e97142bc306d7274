/** Making values from YAML, the environment and flags fit a schema. */
import type { JsonSchema } from '../../kernel/index.ts';
import { canonical } from './key-path.ts';

/** Renames keys of objects to the spelling of the schema's properties; everything else stays as it is. */
export function respelled(value: unknown, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => respelled(item, (schema['items'] ?? {}) as JsonSchema));
  if (typeof value !== 'object' || value === null) return value;
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const names = new Map(Object.keys(properties).map((name) => [canonical(name), name]));
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    const name = names.get(canonical(key)) ?? key;
    return [name, respelled(item, properties[name] ?? {})];
  });
  return Object.fromEntries(entries) as unknown;
}

/** Replaces `${NAME}` and `${NAME:default}` in every string; a variable that is not set and has no default stays as written. */
export function substituted(value: unknown, env: Readonly<Record<string, string | undefined>>, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => substituted(item, env, (schema['items'] ?? {}) as JsonSchema));
  if (typeof value === 'object' && value !== null) {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substituted(item, env, properties[key] ?? {})]));
  }
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const text = value.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g,
    (whole, name: string, fallback?: string) => env[name] ?? fallback ?? whole,
  );
  return typed(text, schema);
}

/** Reads a text as the schema's type; a text that does not fit is handed back, so that validation names it. */
export function typed(text: string, schema: JsonSchema): unknown {
  const type = schema['type'];
  if (type === 'integer' || type === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'array') return listed(text, (schema['items'] ?? {}) as JsonSchema);
  if (type === 'object') return parsed(text);
  return text;
}

/** Lists of plain values are comma-separated; lists of objects are JSON. */
function listed(text: string, items: JsonSchema): unknown {
  if (text.trim() === '') return [];
  if (items['type'] === 'object') return parsed(text);
  return text.split(',').map((item) => typed(item.trim(), items));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Makes the section of a plugin fit its schema: spelling of keys, and texts that a placeholder has brought where a number or a boolean belongs. */
export function fitted(value: unknown, schema: JsonSchema): unknown {
  return retyped(respelled(value, schema), schema);
}

function retyped(value: unknown, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => retyped(item, (schema['items'] ?? {}) as JsonSchema));
  if (typeof value === 'object' && value !== null) {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
    return Object.fromEntries(Object.entries(value).map(([key, item]: [string, unknown]) => [key, retyped(item, properties[key] ?? {})]));
  }
  const isScalar = ['integer', 'number', 'boolean'].includes(schema['type'] as string);
  return typeof value === 'string' && isScalar ? typed(value, schema) : value;
}
