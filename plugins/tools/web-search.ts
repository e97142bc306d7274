import type { Tool, ToolResult, ToolRun } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';
import { accessOf } from '../outside/contract.ts';
import type { Http, HttpAnswer } from '../outside/contract.ts';
import type { Fence } from './fenced.ts';
import { failureOf, httpResult, isFailure, MAX_READ_BYTES, readBody, sourceOf } from './http-result.ts';
import type { Hit, SearchEngine } from './search-engine.ts';

const MAX_HITS = 8;
const MAX_QUERY_CHARACTERS = 400;
const MAX_TITLE_CHARACTERS = 160;
const MAX_SNIPPET_CHARACTERS = 400;

/** `web_search`: asks the search service that is configured. */
export const webSearchTool = (http: Http, engine: SearchEngine, fence: Fence): Tool =>
  defineTool({
    name: 'web_search',
    description:
      'Search the web. Use it to find pages, then read them with fetch_webpage. Returns up to 8 hits as "- title", URL and a few words ' +
      'on lines of their own, between two marks, or "(no results)".',
    readOnly: true,
    idempotent: true,
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: MAX_QUERY_CHARACTERS, description: 'What to look for, at most 400 characters.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    claims({ query }) {
      if (engine.problem !== undefined) return [];
      const { url, method } = engine.call(query, MAX_HITS);
      return [{ kind: 'url', value: url, access: accessOf(method) }];
    },
    async execute({ query }, run) {
      if (engine.problem !== undefined) return fail(`The search is not set up: ${engine.problem}`);
      return httpResult(() =>
        http.send(engine.call(query, MAX_HITS), run, (answer) =>
          isFailure(answer) ? failureOf(answer, run, fence) : found(answer, engine, run, fence),
        ),
      );
    },
  });

async function found(answer: HttpAnswer, engine: SearchEngine, run: ToolRun, fence: Fence): Promise<ToolResult> {
  const { bytes } = await readBody(answer, MAX_READ_BYTES);
  const hits = engine.hits(parsed(bytes)).slice(0, MAX_HITS);
  if (hits.length > 0) return ok(fence(run, sourceOf(answer).replace('answer', 'search results'), hits.map(shown).join('\n')));
  return parsed(bytes) === undefined
    ? fail('The search service did not answer with JSON; is web_search.base-url right?')
    : ok('(no results)');
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    // Not JSON; the caller says so.
    return undefined;
  }
}

const shown = ({ title, url, snippet }: Hit): string =>
  [
    `- ${line(title, MAX_TITLE_CHARACTERS)}`,
    `  ${line(url, 2000)}`,
    ...(line(snippet, MAX_SNIPPET_CHARACTERS) === '' ? [] : [`  ${line(snippet, MAX_SNIPPET_CHARACTERS)}`]),
  ].join('\n');

/** On one line, without markup, and not endlessly. */
function line(text: string, max: number): string {
  const plain = text
    .replaceAll(/<\/?(strong|b|em|i|span)\b[^>]{0,200}>/gi, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return plain.length > max ? `${plain.slice(0, max - 1)}…` : plain;
}
