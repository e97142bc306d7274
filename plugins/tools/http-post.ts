import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import type { Http } from '../outside/contract.ts';
import type { Fence } from './fenced.ts';
import { failureOf, httpResult, isFailure, textResult } from './http-result.ts';

/** `http_post`: sends JSON to a URL. */
export const httpPostTool = (http: Http, fence: Fence): Tool =>
  defineTool({
    name: 'http_post',
    description:
      'Send a JSON text to a URL with POST. For other methods, headers or content types use http_request. ' +
      'Returns the body of the answer between two marks, at most 1 MiB, or "(empty response)".',
    input: {
      type: 'object',
      properties: {
        url: { type: 'string', minLength: 1, description: 'Full URL with http:// or https://.' },
        body: { type: 'string', description: 'The JSON text to send; "" sends no body.' },
      },
      required: ['url', 'body'],
      additionalProperties: false,
    },
    claims: ({ url }) => [{ kind: 'url', value: url, access: 'write' }],
    execute: ({ url, body }, run) =>
      httpResult(() => {
        const content = body.trim() === '' ? {} : { body, headers: { 'content-type': 'application/json' } };
        return http.send({ method: 'POST', url, ...content }, run, (answer) =>
          isFailure(answer) ? failureOf(answer, run, fence) : textResult(answer, run, fence),
        );
      }),
  });
