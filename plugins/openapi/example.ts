/** An example made from a schema, so that none is written twice. */
import type { JsonSchema } from '../../kernel/index.ts';

/** Deeper than this an example helps nobody, and a schema that contains itself would never end. */
const MAX_DEPTH = 8;

/** Texts by the name of the property that holds them. */
const TEXTS: Readonly<Record<string, string>> = {
  name: 'helper',
  agentName: 'helper',
  profile: 'helper',
  profileName: 'helper',
  content: 'Hello, who are you?',
  reply: 'I am helper.',
  description: 'Answers questions about the handbook',
  provider: 'mock',
  model: 'mock',
  userId: 'ann',
  sessionId: 'web:ann:helper',
  baseUrl: 'https://api.example.com',
  url: 'https://hooks.example.com/notify',
  value: 'api.example.com',
  path: 'agents/helper/notes.md',
  cron: '0 0 9 * * *',
  zone: 'Europe/Berlin',
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: '3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f',
  'date-time': '2026-07-22T08:30:00.000Z',
  date: '2026-07-22',
  uri: 'https://api.example.com',
  email: 'ann@example.com',
};

/**
 * A value that fits `schema`: what the schema itself gives as `example`, `examples` or `default`, else one made from types, formats and the
 * property's name. Optional properties are shown too. A schema with a pattern should bring an example of its own.
 */
export function exampleOf(schema: JsonSchema, property = '', depth = 0): unknown {
  const given = givenExample(schema);
  if (given !== undefined) return given.value;
  const variant = [schema['oneOf'], schema['anyOf'], schema['allOf']].find(Array.isArray) as readonly JsonSchema[] | undefined;
  if (variant?.[0] !== undefined) return exampleOf(variant[0], property, depth);

  const type = [schema['type']].flat()[0];
  if (type === 'object' || isSchema(schema['properties'])) return objectExample(schema, depth);
  if (type === 'array') {
    const { items } = schema;
    return isSchema(items) && depth < MAX_DEPTH ? [exampleOf(items, singular(property), depth + 1)] : [];
  }
  if (type === 'string') return textExample(schema, property);
  if (type === 'integer' || type === 'number') return numberExample(schema);
  if (type === 'boolean') return true;
  return null;
}

function givenExample(schema: JsonSchema): { readonly value: unknown } | undefined {
  for (const key of ['example', 'const', 'default']) if (schema[key] !== undefined) return { value: schema[key] };
  for (const key of ['examples', 'enum']) {
    const list: unknown = schema[key];
    if (Array.isArray(list) && list.length > 0) return { value: list[0] as unknown };
  }
  return undefined;
}

function objectExample(schema: JsonSchema, depth: number): Record<string, unknown> {
  if (depth >= MAX_DEPTH) return {};
  const { properties, additionalProperties } = schema;
  if (!isSchema(properties)) return isSchema(additionalProperties) ? { key: exampleOf(additionalProperties, 'key', depth + 1) } : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, isSchema(property) ? exampleOf(property, name, depth + 1) : null]),
  );
}

function textExample(schema: JsonSchema, property: string): string {
  const { format, minLength, maxLength } = schema;
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? (Object.hasOwn(TEXTS, property) ? TEXTS[property] : 'text');
  const long = typeof minLength === 'number' ? (text ?? '').padEnd(minLength, 'x') : (text ?? '');
  return typeof maxLength === 'number' ? long.slice(0, maxLength) : long;
}

function numberExample({ minimum, exclusiveMinimum, maximum }: JsonSchema): number {
  if (typeof minimum === 'number') return minimum;
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  return typeof maximum === 'number' ? Math.min(1, maximum) : 1;
}

const singular = (name: string): string => name.replace(/s$/, '');

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
