import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import type { Http } from '../outside/contract.ts';
import type { Fence } from './fenced.ts';
import { failureOf, httpResult, isFailure, textResult } from './http-result.ts';
import { oneUrl } from './parameters.ts';

/** `http_get`: the text behind a URL, as it is. */
export const httpGetTool = (http: Http, fence: Fence): Tool =>
  defineTool({
    name: 'http_get',
    description:
      'Get the text behind a URL as it is, such as JSON from an API. For pages that people read use fetch_webpage, for files download_file. ' +
      'Returns the body between two marks, at most 1 MiB, or "(empty response)". Only hosts that an administrator has listed can be reached.',
    readOnly: true,
    idempotent: true,
    input: oneUrl,
    claims: ({ url }) => [{ kind: 'url', value: url, access: 'read' }],
    execute: ({ url }, run) =>
      httpResult(() =>
        http.send({ method: 'GET', url }, run, (answer) =>
          isFailure(answer) ? failureOf(answer, run, fence) : textResult(answer, run, fence),
        ),
      ),
  });
