/** A server that takes messages, and answers them as a test wants it. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the receiver got, in order. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly got: { readonly key: string; readonly content: string }[];
  /** Called for every message; answers it, or leaves it without an answer. */
  answer: (response: ServerResponse, content: string) => void;
}

/** Takes everything until it is told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const got: Receiver['got'] = [];
  const receiver = { got, answer: (response: ServerResponse, _content: string): void => void response.end() };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const content = Buffer.concat(chunks).toString();
      got.push({ key: String(request.headers['idempotency-key']), content });
      receiver.answer(response, content);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
