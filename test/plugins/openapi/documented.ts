/** Asks real routes and holds their answers against the document. */
import { compileSchema } from '../../../kernel/index.ts';
import type { JsonSchema } from '../../../kernel/index.ts';
import type { Answer, TestHost } from '../../harness/index.ts';

type Json = Readonly<Record<string, unknown>>;

/** The parts of the document that tests look at. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: JsonSchema }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { schema: JsonSchema; example: Json } };
  };
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Error: JsonSchema }; readonly responses: Readonly<Record<string, Json>> };
}

export const documentOf = async (host: TestHost): Promise<ApiDocument> =>
  JSON.parse((await host.request('GET', '/v3/api-docs')).text) as ApiDocument;

/** Every operation by "METHOD /path". */
export const operationsOf = ({ paths }: ApiDocument): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );

/** The content of an operation's success by media type. */
export const contentOf = ({ responses }: Operation): Readonly<Record<string, { readonly schema?: JsonSchema; readonly example?: Json }>> =>
  (responses['200']?.['content'] ?? {}) as Record<string, { schema?: JsonSchema; example?: Json }>;

/**
 * What is wrong with an answer according to the document; undefined when it is as documented. Objects that name their properties are taken
 * for complete: a property that the document does not know is an offence too.
 */
export function undocumented(document: ApiDocument, operation: Operation, answer: Answer): string | undefined {
  const whole: unknown = String(answer.headers['content-type']).includes('json') ? JSON.parse(answer.text) : answer.text;
  if (answer.status !== 200) {
    if (operation.responses[String(answer.status)] === undefined) return `status ${answer.status} is not documented (${answer.message})`;
    return mismatch(document.components.schemas.Error, whole);
  }
  const type = String(answer.headers['content-type']).split(';')[0] ?? '';
  const content = contentOf(operation);
  if (content[type] === undefined) return `content type ${type} is not documented`;
  const { schema } = content[type];
  return schema === undefined ? undefined : mismatch(schema, whole);
}

/** Says why a value does not fit a schema, closed. */
export function mismatch(schema: JsonSchema, value: unknown): string | undefined {
  const checked = compileSchema(closed(schema) as JsonSchema)(value);
  return checked.ok ? undefined : checked.message;
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = 'properties' in copy && !('additionalProperties' in copy) && typeof copy['type'] !== 'undefined';
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
