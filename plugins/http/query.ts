/** Query strings and path parameters: text on the wire, values of the schema's types for handlers. */
import { invalidInput } from '../../kernel/index.ts';
import type { JsonSchema } from '../../kernel/index.ts';

/** Names and their values in order; never inherits anything. */
type QueryValues = Record<string, string[]>;

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Reads a query string as the schema wants it: numbers and booleans by their declared type, lists for `type: 'array'`. Text that does not
 * fit is left as it is, so that validation names it.
 *
 * Throws ORYX_INVALID_INPUT for broken percent-encoding and for a single-valued parameter that is given more than once.
 */
export function readQuery(querystring: string, schema: JsonSchema): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, values] of Object.entries(parseQuery(querystring))) {
    const declared = propertyOf(schema, name);
    if (typesOf(declared).includes('array')) {
      query[name] = values.map((value) => typed(value, itemsOf(declared)));
      continue;
    }
    if (declared !== undefined && values.length > 1) throw invalidInput(`Query parameter "${name}" is given more than once.`);
    query[name] = typed(values.at(-1) ?? '', declared);
  }
  return query;
}

/** Path parameters with the types of the schema. */
export function readParams(params: Readonly<Record<string, string>>, schema: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typed(value, propertyOf(schema, name))]));
}

function parseQuery(querystring: string): QueryValues {
  const values: QueryValues = Object.create(null);
  for (const pair of querystring.split('&')) {
    if (pair === '') continue;
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    (values[decoded(name)] ??= []).push(decoded(value));
  }
  return values;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) throw invalidInput('The query string has invalid percent-encoding.');
    throw error;
  }
}

function typed(text: string, schema: JsonSchema | undefined): unknown {
  const types = typesOf(schema);
  if ((types.includes('integer') || types.includes('number')) && NUMBER.test(text)) return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  if (!isSchema(properties) || !Object.hasOwn(properties, name)) return undefined;
  const property = properties[name];
  return isSchema(property) ? property : undefined;
}

const itemsOf = (schema: JsonSchema | undefined): JsonSchema | undefined => (isSchema(schema?.['items']) ? schema['items'] : undefined);

const typesOf = (schema: JsonSchema | undefined): readonly unknown[] => [schema?.['type']].flat();

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
