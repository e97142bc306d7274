/** One route as an operation of the document. */
import type { JsonSchema } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { errorStatuses, responseName } from './error-answers.ts';
import { exampleOf } from './example.ts';
import { operationId, tagOf } from './operation-name.ts';
import type { OperationName } from './operation-name.ts';

/** A stand-in for the time in examples: epoch milliseconds. */
export const EXAMPLE_AT = 1_784_707_200_000;

/** Describes a route with its own schemas; the answer stands in the envelope unless the route says that it is raw. */
export function operationOf(route: Route, name: OperationName): Record<string, unknown> {
  const id = operationId(name);
  return {
    operationId: id,
    tags: [tagOf(name)],
    summary: route.summary,
    ...parametersOf(route, name, id),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, route.body, id) }),
    responses: {
      200: successOf(route, id),
      ...Object.fromEntries(
        errorStatuses(route).map((status) => [String(status), { $ref: `#/components/responses/${responseName(status)}` }]),
      ),
    },
  };
}

function parametersOf(route: Route, { params }: OperationName, id: string): { readonly parameters?: readonly unknown[] } {
  const path = params.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: identified(propertiesOf(route.params)[name] ?? { type: 'string' }, `${id}.${name}`),
  }));
  const parameters = [...path, ...listed(route.query, 'query', id), ...listed(route.headers, 'header', id)];
  return parameters.length === 0 ? {} : { parameters };
}

function listed(schema: JsonSchema | undefined, place: 'query' | 'header', id: string): readonly unknown[] {
  const required = new Set([schema?.['required'] ?? []].flat());
  return Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    name,
    in: place,
    ...(typeof property['description'] === 'string' ? { description: property['description'] } : {}),
    required: required.has(name),
    schema: identified(property, `${id}.${name}`),
  }));
}

function bodyOf(route: Route, body: JsonSchema, id: string): Record<string, unknown> {
  return {
    required: route.bodyOptional !== true,
    content: { 'application/json': { schema: identified(body, `${id}.body`), example: exampleOf(body) } },
  };
}

function successOf(route: Route, id: string): Record<string, unknown> {
  if (route.produces !== undefined) {
    return { description: 'The content itself, outside of the envelope', content: { [route.produces]: {} } };
  }
  const data = identified(route.answer ?? {}, `${id}.data`);
  return {
    description: 'Done',
    ...(route.streams === true ? { headers: { 'X-Trace-Id': { $ref: '#/components/headers/TraceId' } } } : {}),
    content: {
      'application/json': {
        schema: envelopeOf(data),
        example: { code: 0, message: 'success', data: exampleOf(route.answer ?? {}), timestamp: EXAMPLE_AT },
      },
      ...(route.streams === true ? { 'text/event-stream': eventStream } : {}),
    },
  };
}

/** The envelope of every success, around the schema of its data. */
export const envelopeOf = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { code: { const: 0 }, message: { const: 'success' }, data, timestamp: { type: 'integer' } },
  required: ['code', 'message', 'data', 'timestamp'],
});

/** With the header `Accept: text/event-stream`. */
const eventStream = {
  schema: {
    type: 'string',
    description:
      'Events in this order: one `trace {traceId}`; then `token {delta}`, `tool_start {name}`, `tool_end {name, success}` as they come, and ' +
      '`ask {askId, question}` for a client that sends `X-Oryx-Interactive: 1`; at last one `done {reply, traceId, stopReason}` or one ' +
      '`error {code, message}`. Every event has an `id:` that grows; lines that begin with ":" keep the connection open.',
  },
  example: [
    'id: 1\nevent: trace\ndata: {"traceId":"3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"}\n\n',
    'id: 2\nevent: token\ndata: {"delta":"I am "}\n\n',
    'id: 3\nevent: token\ndata: {"delta":"helper."}\n\n',
    'id: 4\nevent: done\ndata: {"reply":"I am helper.","traceId":"3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f","stopReason":"completed"}\n\n',
  ].join(''),
};

const propertiesOf = (schema: JsonSchema | undefined): Readonly<Record<string, JsonSchema>> =>
  (schema?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;

/** A schema that points into itself keeps doing so only as a resource of its own: inside the document "#" is the document. */
function identified(schema: JsonSchema, id: string): JsonSchema {
  if (schema['$id'] !== undefined || !JSON.stringify(schema).includes('"$ref":"#')) return schema;
  return { $id: `urn:oryxos:${id}`, ...schema };
}
