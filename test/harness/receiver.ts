/** A server on a real port of the loopback interface that takes messages. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
}

/** What is answered; `cut` closes the connection instead, `hang` leaves it open, `endless` is a 200 whose body never ends. */
export type ReceiverReply =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'hang'
  | 'endless';

/** Makes the answer to a request. */
export type ReceiverScript = (request: ReceivedRequest) => ReceiverReply;

/** A running receiver. Close it, or hold it with `await using`. */
export interface Receiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Connections that were ever opened. */
  readonly connections: number;
  /** The next requests are answered so, in order; after them as the receiver was started. */
  will(...replies: readonly (ReceiverReply | ReceiverScript)[]): void;
  /** Resolves when that many requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver that answers by `script`, at first 200 without a body. */
export async function startReceiver(script: ReceiverScript = () => ({})): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const next: (ReceiverReply | ReceiverScript)[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, path: url, headers, text: Buffer.concat(chunks).toString('utf8') };
      requests.push(request);
      const scripted = next.shift() ?? script;
      const reply = typeof scripted === 'function' ? scripted(request) : scripted;
      if (reply === 'hang') return;
      if (reply === 'cut') response.destroy();
      else if (reply === 'endless') pour(response);
      else response.writeHead(reply.status ?? 200, reply.headers ?? { 'content-type': 'application/json' }).end(reply.body ?? '');
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections;
    },
    will: (...replies) => void next.push(...replies),
    received: async (count) => void (await until(`${count} requests`, () => requests.length >= count)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pour(response: ServerResponse): void {
  const piece = 'x'.repeat(16 * 1024);
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
    response.once('drain', more);
  };
  more();
}
