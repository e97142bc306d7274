/** A small HTTP server that answers in OryxOS' envelope as a test has scripted it, and remembers what it was asked. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  /** Decoded path with query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** What a scripted endpoint may do: return data, or write the response itself and return nothing. */
export type Answer = (seen: Seen, response: ServerResponse) => unknown;

export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Scripts an endpoint, e.g. `on('GET /api/v1/agents', () => [])`; the latest script of a name wins. */
  on(name: string, answer: Answer): void;
  /** Requests whose method and path are `name`, query left out. */
  asked(name: string): readonly Seen[];
  close(): Promise<void>;
}

/** An error answer for a scripted endpoint. */
export const refuse = (response: ServerResponse, code: number, message: string): undefined => {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message, data: null, timestamp: 0 }));
  return undefined;
};

/** Starts an event stream and sends events; call it again for more. */
export function sendEvents(response: ServerResponse, ...events: readonly (readonly [string, unknown])[]): undefined {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream;charset=UTF-8' });
  for (const [event, data] of events) response.write(`id: 1\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  return undefined;
}

/** Starts a server on a free loopback port; `GET /api/v1/health` is scripted already. */
export async function startApiServer(): Promise<ApiServer> {
  const answers = new Map<string, Answer>([['GET /api/v1/health', () => ({ status: 'ok' })]]);
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
      const text = Buffer.concat(chunks).toString('utf8');
      const path = decodeURIComponent(request.url ?? '');
      const call: Seen = { method: request.method ?? '', path, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) };
      seen.push(call);
      const answer = answers.get(nameOf(call));
      if (answer === undefined) return refuse(response, 404, `no such resource: ${path}`);
      const data = await answer(call, response);
      if (data === undefined) return undefined;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 0, message: 'success', data, timestamp: 0 }));
      return undefined;
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    on: (name, answer) => answers.set(name, answer),
    asked: (name) => seen.filter((call) => nameOf(call) === name),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const nameOf = ({ method, path }: Seen): string => `${method} ${path.split('?')[0] ?? ''}`;
