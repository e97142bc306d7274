/** The floor's model call: node:http over kept connections, and a split on blank lines. */
import { Agent, request as send } from 'node:http';

/** A call as the protocol carries it. */
export interface FloorCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message as the protocol carries it. */
export interface FloorMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly FloorCall[];
  readonly tool_call_id?: string;
}

/** A whole answer. */
export interface FloorReply {
  readonly content: string;
  readonly calls: readonly FloorCall[];
}

/** Asks the model; `close` ends its connections. */
export interface FloorModel {
  /** Rejects when the connection fails; text goes to `onText` as it comes. */
  ask(messages: readonly FloorMessage[], onText: (text: string) => void): Promise<FloorReply>;
  close(): void;
}

interface Chunk {
  readonly choices: readonly {
    readonly delta?: { readonly content?: string | null; readonly tool_calls?: readonly CallPiece[] };
  }[];
}

interface CallPiece {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
const TOOLS = [{ type: 'function', function: { name: 'echo', description: 'Say it again.', parameters: PARAMETERS } }];

/** @param url  origin of the model server */
export function floorModel(url: string): FloorModel {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(url);
  return {
    ask: (messages, onText) =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ model: 'bench', messages, tools: TOOLS, stream: true, stream_options: { include_usage: true } });
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
        const request = send({ hostname, port, path: '/v1/chat/completions', method: 'POST', headers, agent }, (response) => {
          const reader = chunkReader(onText);
          response.setEncoding('utf8');
          response.on('data', (text: string) => reader.push(text));
          response.on('end', () => resolve(reader.reply()));
          response.on('error', reject);
        });
        request.on('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** Text of one read goes on as one piece, as the product sends it. */
function chunkReader(onText: (text: string) => void): { push(text: string): void; reply(): FloorReply } {
  const calls: { id: string; name: string; text: string }[] = [];
  let content = '';
  let rest = '';
  return {
    push(text) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      let added = '';
      for (const block of blocks) {
        if (block === 'data: [DONE]') continue;
        const { delta } = (JSON.parse(block.slice(6)) as Chunk).choices[0] ?? {};
        if (delta?.content) added += delta.content;
        for (const piece of delta?.tool_calls ?? []) {
          const call = (calls[piece.index] ??= { id: '', name: '', text: '' });
          call.id += piece.id ?? '';
          call.name += piece.function?.name ?? '';
          call.text += piece.function?.arguments ?? '';
        }
      }
      content += added;
      if (added !== '') onText(added);
    },
    reply: () => ({
      content,
      calls: calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } })),
    }),
  };
}
