/** A real server with the routes of a test, and raw sockets to it. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createKernel, definePlugin } from '../../../kernel/index.ts';
import type { Context, KernelHost, LogLine } from '../../../kernel/index.ts';
import http from '../../../plugins/http/index.ts';
import type { Route } from '../../../plugins/http/contract.ts';
import type { Secrets } from '../../../plugins/secrets/contract.ts';
import { type Answer, request } from '../../harness/http-client.ts';
import { type FakeClock, fakeClock } from '../../harness/fake-clock.ts';

export interface Serving extends AsyncDisposable {
  readonly kernel: KernelHost;
  readonly clock: FakeClock;
  readonly url: string;
  readonly port: number;
  /** The context of the plugin that owns the routes. */
  readonly ctx: Context;
  /** Every log line so far. */
  readonly lines: readonly LogLine[];
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends bytes as they are and resolves with what came back, when the server closes the connection or has sent `answers` bodies. */
  raw(text: string | Uint8Array): Promise<string>;
  open(): Promise<RawClient>;
}

/** Stands in for the plugin `secrets`, which needs a workspace: hides every "secret-…". */
export const secrets: Secrets = {
  seal: (plain) => plain,
  open: (sealed) => sealed,
  remember: () => () => undefined,
  mask: (text) => text.replaceAll(/secret-\w+/g, '****'),
  hint: () => null,
};

/** Starts a kernel with the http plugin on a port of its own. */
export async function serve(routes: readonly Route[] = [], config: Readonly<Record<string, unknown>> = {}): Promise<Serving> {
  const clock = fakeClock();
  const kernel = createKernel({ clock, services: { secrets } });
  const lines: LogLine[] = [];
  let owner: Context | undefined;
  await kernel.load(
    definePlugin({ name: 'lines', setup: (ctx) => void ctx.register('logSink', { name: 'lines', write: (line) => lines.push(line) }) }),
  );
  const status = await kernel.load(http, { port: 0, ...config });
  if (status.error) throw status.error;
  await kernel.load(
    definePlugin({
      name: 'routes',
      setup(ctx) {
        owner = ctx;
        for (const route of routes) ctx.register('route', route);
      },
    }),
  );
  const { url, port } = await kernel.service('http').listen();
  if (owner === undefined) throw new Error('the plugin with the routes was not set up');
  return {
    kernel,
    clock,
    url,
    port,
    ctx: owner,
    lines,
    request: (method, path, body, headers) => request(url, method, path, body, headers),
    raw: async (text) => {
      const client = await rawClient(port);
      client.write(text);
      await client.ended;
      return client.text;
    },
    open: () => rawClient(port),
    [Symbol.asyncDispose]: () => kernel.close(),
  };
}

/** A connection that shows everything that came. */
export interface RawClient {
  readonly socket: Socket;
  readonly text: string;
  /** Resolves when the server has closed the connection, by whatever means. */
  readonly ended: Promise<void>;
  write(text: string | Uint8Array): void;
  close(): void;
}

export async function rawClient(port: number, host = '127.0.0.1'): Promise<RawClient> {
  const socket = connect(port, host);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A reset is one of the ways in which a server may end a connection; `ended` tells.
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    socket,
    ended,
    get text() {
      return text;
    },
    write: (data) => void socket.write(data),
    close: () => void socket.destroy(),
  };
}

/** The status of a raw answer. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);

/** The envelope of a raw answer. */
export const envelopeOf = (text: string): { code: number; message: string; data: unknown; timestamp: number } =>
  JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as never;
