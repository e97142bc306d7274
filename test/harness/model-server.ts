/** A scripted OpenAI-compatible server on a real port of the loopback interface. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

/** A request as it arrived. */
export interface ModelRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON body; undefined for GET. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
  /** The client closed the connection before it had the whole answer. */
  readonly isGone: boolean;
}

/** Answers one request. A reply that returns without ending the response leaves it hanging. */
export type ModelReply = (request: ModelRequest, response: ServerResponse) => void | Promise<void>;

/** A server that answers as told. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** What to give a provider as `baseUrl`. */
  readonly baseUrl: string;
  /** Chat requests, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** Requests for other paths, `/models` too. */
  readonly others: readonly ModelRequest[];
  /** Connections that were ever opened. */
  readonly connections: number;
  /** Connections that are open. */
  readonly openConnections: number;
  /** The next chat requests get these replies, in order; after them `fallback`. */
  will(...replies: readonly ModelReply[]): void;
  /** Answers every chat request for which nothing is scripted; at first `says('ok')`. */
  fallback: ModelReply;
  /** Answers `GET …/models`; at first two models. */
  modelsReply: ModelReply;
  /** Resolves when that many chat requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server. Close it, or hold it with `await using`. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const others: ModelRequest[] = [];
  const script: ModelReply[] = [];
  let connections = 0;
  let openConnections = 0;

  const server = createServer((incoming, response) => {
    void answer(incoming, response);
  });
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await received(incoming, response);
    const isChat = request.path.split('?', 1)[0]?.endsWith('/chat/completions') === true;
    (isChat ? requests : others).push(request);
    try {
      if (isChat) await (script.shift() ?? model.fallback)(request, response);
      else if (request.path.endsWith('/models')) await model.modelsReply(request, response);
      else await status(404)(request, response);
    } catch {
      // A client that has gone, or a broken script: the test sees a cut connection.
      response.destroy();
    }
  }
  server.on('connection', (socket) => {
    connections += 1;
    openConnections += 1;
    socket.once('close', () => {
      openConnections -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const model: ModelServer = {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    others,
    get connections() {
      return connections;
    },
    get openConnections() {
      return openConnections;
    },
    will: (...replies) => void script.push(...replies),
    fallback: says('ok'),
    modelsReply: json({ object: 'list', data: [{ id: 'model-b' }, { id: 'model-a' }] }),
    received: async (count) => void (await until(`${count} chat requests`, () => requests.length >= count)),
    close,
    [Symbol.asyncDispose]: close,
  };
  return model;
}

async function received(incoming: IncomingMessage, response: ServerResponse): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body,
    get isGone() {
      return response.closed && !response.writableFinished;
    },
  };
}

/** How an answer is streamed and what it reports. */
export interface SayOptions {
  /** The pieces of the text, one chunk each; default: its words. */
  readonly pieces?: readonly string[];
  /** Fields of the deltas beside `content`, e.g. `reasoning_content`, sent before the text. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Default `{prompt_tokens: 10, completion_tokens: 5, total_tokens: 15}`; null sends none. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  /** Default "stop"; null sends none. */
  readonly finishReason?: string | null;
  /** Awaited before the head of the response. */
  readonly before?: Promise<unknown>;
  /** Awaited after the first piece. */
  readonly between?: Promise<unknown>;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** One chunk of a stream, as JSON text. */
export function chunk(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): string {
  return JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

/** One event of a stream. */
export const event = (data: string): string => `data: ${data}\n\n`;

/** Says a text: streamed when the request asks for it, else as one answer. */
export function says(text: string, options: SayOptions = {}): ModelReply {
  const pieces = options.pieces ?? text.split(/(?<= )/);
  return answered(
    { content: text, ...options.extra },
    [...(options.extra ? [{ content: null, ...options.extra }] : []), ...pieces.map((content) => ({ content }))],
    { finishReason: 'stop', ...options },
  );
}

/** A tool call of a script; `arguments` that is no string is sent as JSON. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: unknown;
}

/** Calls tools; arguments are streamed in two pieces. `content` is said first. */
export function callsTools(calls: readonly ScriptedCall[], options: SayOptions & { readonly content?: string } = {}): ModelReply {
  const { content = '', extra, ...rest } = options;
  const whole = calls.map(({ id, name, arguments: args = {} }, index) => ({
    index,
    id: id ?? `call_${index + 1}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  const deltas = whole.flatMap(({ index, id, type, function: fn }) => {
    const half = Math.ceil(fn.arguments.length / 2);
    return [
      { tool_calls: [{ index, id, type, function: { name: fn.name, arguments: fn.arguments.slice(0, half) } }] },
      { tool_calls: [{ index, function: { arguments: fn.arguments.slice(half) } }] },
    ];
  });
  const said = content === '' ? [] : content.split(/(?<= )/).map((piece) => ({ content: piece }));
  const first = extra ? [{ content: null, ...extra }] : [];
  const message = { content: content || null, tool_calls: whole, ...extra };
  return answered(message, [...first, ...said, ...deltas], { finishReason: 'tool_calls', ...rest });
}

function answered(
  message: Readonly<Record<string, unknown>>,
  deltas: readonly Readonly<Record<string, unknown>>[],
  { usage = USAGE, finishReason, before, between }: SayOptions,
): ModelReply {
  return async (request, response) => {
    await before;
    const { stream, stream_options: streamOptions } = request.body as { stream?: boolean; stream_options?: { include_usage?: boolean } };
    if (stream !== true) {
      const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason };
      return sendJson(response, { id: 'c1', object: 'chat.completion', choices: [choice], usage });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk({ role: 'assistant' })));
    for (const [index, delta] of deltas.entries()) {
      response.write(event(chunk(delta)));
      if (index === 0) await between;
    }
    if (finishReason !== null) response.write(event(chunk({}, finishReason)));
    if (usage !== null && streamOptions?.include_usage === true) response.write(event(JSON.stringify({ choices: [], usage })));
    response.end(event('[DONE]'));
  };
}

function sendJson(response: ServerResponse, body: unknown, statusCode = 200): void {
  response.writeHead(statusCode, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Answers with JSON, whatever was asked. */
export const json =
  (body: unknown): ModelReply =>
  (_request, response) =>
    sendJson(response, body);

/** Answers with a status; an object body is sent as JSON, a text as it is. */
export function status(
  code: number,
  body: unknown = { error: { message: `status ${code}` } },
  headers: Readonly<Record<string, string>> = {},
): ModelReply {
  return (_request, response) => {
    const isText = typeof body === 'string';
    response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };
}

/** Bytes to send, or something to wait for before going on. */
export type Piece = string | Uint8Array | (() => Promise<unknown>);

/** Sends these bytes as the body of an event stream, each piece as a write of its own. Writes that nothing stands between may arrive as one. */
export function raw(pieces: readonly Piece[], contentType = 'text/event-stream'): ModelReply {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (const piece of pieces) await (typeof piece === 'function' ? piece() : written(response, piece));
    response.end();
  };
}

/** Resolves when the piece has left the process. */
async function written(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
  await new Promise((resolve) => setImmediate(resolve));
}

/** A web page with status 200, as a login wall or a wrong URL gives. */
export const page = (): ModelReply => raw(['<!DOCTYPE html><html><body>Please sign in</body></html>'], 'text/html');

/** Never answers. */
export const stalls = (): ModelReply => () => {};

/** Says a part and then nothing more; the connection stays open. */
export function stallsAfter(text: string): ModelReply {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await written(response, event(chunk({ content: text })));
  };
}

/** Says a part (or, for "", only the head) and then breaks the connection. */
export function cutsAfter(text: string): ModelReply {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    if (text !== '') await written(response, event(chunk({ content: text })));
    response.destroy();
  };
}

/** Closes the connection without a byte. */
export const hangsUp = (): ModelReply => (_request, response) => void response.destroy();
