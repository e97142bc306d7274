/**
 * A deterministic OpenAI-compatible server, in a process of its own. It keeps nothing between requests: after a tool's result it says the
 * reply, before it calls the tool `echo`; "[[say N]]" in the last message of the user is answered with N tokens and no call, and "[[say N
 * one by one]]" with each token in a turn of the event loop of its own.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from './child.ts';

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

const REPLY_TOKENS = 20;
const HEAD = '{"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[';
const USAGE = { prompt_tokens: 100, completion_tokens: REPLY_TOKENS, total_tokens: 100 + REPLY_TOKENS };
const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'echo', arguments: '' } };

const event = (delta: unknown, finish: string | null = null): string =>
  `data: ${HEAD}{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
const ROLE = event({ role: 'assistant', content: '' });
const TOKENS = Array.from({ length: 16 }, (_, index) => event({ content: `word${index} ` }));
const callEvents = [
  event({ role: 'assistant', content: null, tool_calls: [CALL] }),
  event({ tool_calls: [{ index: 0, function: { arguments: '{"text":"x"}' } }] }),
];
const ending = (finish: string): string =>
  `${event({}, finish)}data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

async function answer(response: ServerResponse, { messages }: ChatRequest): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const asked = messages.findLast(({ role }) => role === 'user')?.content;
  const [, count, paced] = /\[\[say (\d+)( one by one)?\]\]/.exec(typeof asked === 'string' ? asked : '') ?? [];
  if (count === undefined && messages.at(-1)?.role !== 'tool') {
    for (const piece of callEvents) response.write(piece);
    response.end(ending('tool_calls'));
    return;
  }
  response.write(ROLE);
  for (let index = 0; index < Number(count ?? REPLY_TOKENS); index += 1) {
    const isTaken = response.write(TOKENS[index % TOKENS.length] ?? '');
    if (paced !== undefined) await new Promise((resolve) => setImmediate(resolve));
    if (!isTaken) await drained(response);
  }
  response.end(ending('stop'));
}

function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void answer(response, JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  answerParent({
    url: `http://127.0.0.1:${port}`,
    rows: () => Promise.resolve({}),
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  });
});
