/** Which errors a route can answer with, and what they look like. */
import type { Route } from '../http/contract.ts';
import { operationName } from './operation-name.ts';

/** Every status with what it means and what its message looks like. */
export const ERRORS: Readonly<Record<number, { readonly description: string; readonly message: string }>> = {
  400: {
    description: 'The request is not valid; the message names the field at fault',
    message: 'the body must have the property "name"',
  },
  403: { description: 'The header Host or Origin is refused', message: 'Requests from https://example.com are refused.' },
  404: { description: 'What the request names does not exist', message: 'There is no agent "helper".' },
  405: {
    description: 'Another method is asked for than this path has; the header Allow lists them',
    message: 'PATCH is not allowed here; allowed: GET, HEAD.',
  },
  409: { description: 'The request does not fit the present state', message: 'The agent "helper" is broken: provider is missing.' },
  413: { description: 'The request body is too large', message: 'The request body is larger than 1048576 bytes.' },
  415: {
    description: 'The request body is not what the operation takes',
    message: 'The request body must have the content type application/json.',
  },
  422: {
    description: 'The run ended at a tool failure that cannot be repaired by trying again',
    message: 'Tool "write_file" was refused: the path is outside of the file whitelist.',
  },
  429: { description: 'Too many runs wait in the session', message: '100 runs wait in this session; try again later.' },
  500: { description: 'A fault of the server; the log says more', message: 'Internal server error' },
  503: {
    description: 'Something that is needed is not available: the provider, the store, or the server is stopping',
    message: 'The provider "deepseek" did not answer within 120 s.',
  },
  504: { description: 'The run took longer than its agent allows', message: 'The run took longer than 600 s.' },
};

const ALWAYS = [400, 403, 405, 500, 503];
const OF_A_BODY = [413, 415];
const OF_A_RUN = [409, 422, 429, 504];

/** The statuses of a route, ascending: from what it takes, what it does, and what it says itself. Unknown ones are left out. */
export function errorStatuses(route: Route): readonly number[] {
  const takesNames = (operationName(route.name)?.params.length ?? 0) > 0 || route.query !== undefined || route.body !== undefined;
  const all = [
    ...ALWAYS,
    ...(takesNames ? [404] : []),
    ...(route.kind === 'read' ? [] : [409]),
    ...(route.body === undefined ? [] : OF_A_BODY),
    ...(route.streams === true ? OF_A_RUN : []),
    ...(route.errors ?? []),
  ];
  return [...new Set(all)].filter((status) => status in ERRORS).sort((a, b) => a - b);
}

/** The reusable answers of the document, by name. */
export function errorResponses(at: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, { description, message }]) => [
      responseName(Number(status)),
      {
        description,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: { code: Number(status), message, data: null, timestamp: at },
          },
        },
      },
    ]),
  );
}

/** Name of the reusable answer for a status. */
export const responseName = (status: number): string => `Error${status}`;

/** The envelope of every error. */
export const errorSchema = {
  type: 'object',
  description: 'Every error; the HTTP status is the same number as `code`.',
  properties: {
    code: { type: 'integer', minimum: 400, maximum: 599 },
    message: { type: 'string', description: 'English; names what is at fault and never holds a secret.' },
    data: { type: 'null' },
    timestamp: { type: 'integer', description: 'Epoch milliseconds.' },
  },
  required: ['code', 'message', 'data', 'timestamp'],
} as const;
