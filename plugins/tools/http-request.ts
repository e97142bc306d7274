import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Http, HttpAnswer, HttpMethod } from '../outside/contract.ts';
import type { Fence } from './fenced.ts';
import { headersFrom } from './header-lines.ts';
import { failureOf, httpResult, isFailure, textResult } from './http-result.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies readonly HttpMethod[];
/** What tells a caller how to go on. */
const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'location',
  'etag',
  'last-modified',
  'date',
  'link',
  'retry-after',
  'cache-control',
];

/** `http_request`: a request with method, headers and body. */
export const httpRequestTool = (http: Http, fence: Fence): Tool =>
  defineTool({
    name: 'http_request',
    description:
      'Send an HTTP request with your own method, headers and body. For a plain GET use http_get. Returns the body of the answer between two ' +
      'marks, at most 1 MiB, or "(empty response)"; with includeStatus the status line and some headers before it.',
    aliases: { include_status: 'includeStatus' },
    input: {
      type: 'object',
      properties: {
        method: { type: 'string', minLength: 1, description: 'GET, POST, PUT, PATCH or DELETE.' },
        url: { type: 'string', minLength: 1, description: 'Full URL with http:// or https://.' },
        headers: {
          anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'string' } }],
          description: 'An object {"Name": "value"}, or lines "Name: value".',
        },
        body: { type: 'string', description: 'Text to send. Name its type with the header Content-Type.' },
        includeStatus: { type: 'boolean', description: 'Show status line and headers of the answer. Default false.' },
      },
      required: ['method', 'url'],
      additionalProperties: false,
    },
    // What is no method is claimed as writing, and refused before anything is sent.
    claims: ({ method, url }) => [{ kind: 'url', value: url, access: methodFrom(method) === 'GET' ? 'read' : 'write' }],
    execute: ({ method: name, url, headers, body, includeStatus = false }, run) =>
      httpResult(async () => {
        const method = methodFrom(name);
        if (method === undefined) {
          return fail(`Bad arguments for http_request: method must be one of ${METHODS.join(', ')}, not ${printable(name).slice(0, 40)}`);
        }
        const content = body === undefined || body === '' ? {} : { body };
        return http.send({ method, url, headers: headersFrom(headers), ...content }, run, async (answer) => {
          if (isFailure(answer)) return failureOf(answer, run, fence);
          const result = await textResult(answer, run, fence, includeStatus ? headOf(answer) : '');
          return includeStatus && result.success ? ok(`HTTP ${answer.status} ${answer.reason}\n${result.content}`) : result;
        });
      }),
  });

function methodFrom(name: string): HttpMethod | undefined {
  const method = name.trim().toUpperCase();
  return METHODS.includes(method) ? (method as HttpMethod) : undefined;
}

const headOf = ({ headers }: HttpAnswer): string =>
  SHOWN_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${printable(headers[name])}`])).join('\n');
