/** An OpenAI-compatible server that decides by the transcript alone, so that a model asked again says the same. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

interface WireMessage {
  readonly role: string;
  readonly content: string | null;
}

export interface StatelessModel extends AsyncDisposable {
  readonly url: string;
  /** How many requests came with how many messages after the last user message. */
  readonly asked: ReadonlyMap<string, number>;
}

/**
 * For a user message "x" it calls append_line "x-a", then peek twice at once, then append_line "x-b", then answers "done x".
 * Everything is streamed.
 */
export async function statelessModel(): Promise<StatelessModel> {
  const asked = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: WireMessage[] };
      const last = messages.findLastIndex(({ role }) => role === 'user');
      const input = messages[last]?.content ?? '';
      const answers = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
      asked.set(`${input}/${answers}`, (asked.get(`${input}/${answers}`) ?? 0) + 1);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of deltasFor(input, answers)) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...delta }] })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function deltasFor(input: string, answers: number): readonly object[] {
  const calls = [
    [['append_line', `${input}-a`]],
    [
      ['peek', `${input}-1`],
      ['peek', `${input}-2`],
    ],
    [['append_line', `${input}-b`]],
  ][answers];
  if (!calls) return [{ delta: { content: 'done ' } }, { delta: { content: input } }, { delta: {}, finish_reason: 'stop' }];
  const toolCalls = calls.map(([name, text], index) => ({
    index,
    id: `call-${answers}-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify({ text }) },
  }));
  return [{ delta: { content: `step ${answers}` } }, { delta: { tool_calls: toolCalls } }, { delta: {}, finish_reason: 'tool_calls' }];
}
