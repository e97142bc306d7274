/** The listening socket: opens the port, follows answers in flight, and closes without cutting them. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { OryxError } from '../../kernel/index.ts';
import type { Clock, Disposer, Logger } from '../../kernel/index.ts';
import { bareHost, isLoopback, urlOf } from './address.ts';
import { clientErrorResponse } from './client-error.ts';
import { errorBody } from './envelope.ts';
import { listenProblem } from './listen-problem.ts';
import type { HttpAddress, HttpServer } from './contract.ts';
import type { RequestHandler } from './server.ts';

/** How long a client may take, in milliseconds. */
export interface ListenerTimeouts {
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For a whole request, its body included. */
  readonly requestMs: number;
  /** How often the two above are looked at. */
  readonly checkMs: number;
  /** Between two requests of one connection. */
  readonly keepAliveMs: number;
  /** To take an answer once it is complete. */
  readonly answerMs: number;
  /** For answers in flight when the server closes. */
  readonly drainMs: number;
}

const TIMEOUTS: ListenerTimeouts = {
  headersMs: 30_000,
  requestMs: 50_000,
  checkMs: 5_000,
  keepAliveMs: 30_000,
  answerMs: 60_000,
  drainMs: 10_000,
};
const LAST_WORD_MS = 500;
const STOPPING = { status: 503, message: 'The server is stopping.' };

/** What a listener is made of. */
export interface ListenerParts {
  readonly host: string;
  readonly port: number;
  readonly handler: RequestHandler;
  /** Ends what would otherwise never end by itself; called when the time for answers in flight is over. */
  readonly endStreams: (view: { readonly status: number; readonly message: string }) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timeouts?: Partial<ListenerTimeouts>;
}

/** One HTTP server. `close` releases the port and every connection. */
export class Listener implements HttpServer {
  readonly #parts: ListenerParts;
  readonly #timeouts: ListenerTimeouts;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #inFlight = new Map<ServerResponse, Socket>();
  readonly #waiting = new Set<(address: HttpAddress) => void | Promise<void>>();
  readonly #warnings: string[] = [];
  #address: HttpAddress | undefined;
  #closing = false;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#timeouts = { ...TIMEOUTS, ...parts.timeouts };
    this.#server = createServer({
      headersTimeout: this.#timeouts.headersMs,
      requestTimeout: this.#timeouts.requestMs,
      keepAliveTimeout: this.#timeouts.keepAliveMs,
      connectionsCheckingInterval: this.#timeouts.checkMs,
      // Node's own refusal of a missing Host has no body; the guard answers it in the envelope.
      requireHostHeader: false,
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('request', (request, response) => void this.#serve(request, response));
    this.#server.on('checkExpectation', (request, response) => void this.#serve(request, response));
    // Without a listener an accept that fails, for want of descriptors say, would end the process.
    this.#server.on('error', (error) => {
      if (this.#server.listening) parts.log.error('the listening socket has a fault', { error });
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#refuse(error, socket));
  }

  get address(): HttpAddress | undefined {
    return this.#address;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  async listen(): Promise<HttpAddress> {
    const { host, log } = this.#parts;
    await this.#open();
    const bound = (this.#server.address() as AddressInfo).port;
    this.#address = { host: bareHost(host), port: bound, url: urlOf(host, bound) };
    if (!isLoopback(host)) {
      this.#warnings.push(
        `The API has no authentication and listens on ${bareHost(host)}:${bound}: whoever reaches that port controls the agents.`,
      );
      log.warn('the API has no authentication and can be reached from other machines', { host, port: bound });
    }
    log.info('the server listens', { url: this.#address.url });
    await Promise.all([...this.#waiting].map((fn) => this.#announce(fn)));
    return this.#address;
  }

  onListening(fn: (address: HttpAddress) => void | Promise<void>): Disposer {
    this.#waiting.add(fn);
    if (this.#address !== undefined) void this.#announce(fn);
    return () => void this.#waiting.delete(fn);
  }

  /**
   * Accepts nothing new, ends idle connections at once and waits for answers in flight. When the time is over, streams get a last event,
   * requests without an answer 503, and the connections are cut.
   */
  async close(): Promise<void> {
    this.#closing = true;
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) this.#endIfIdle(socket);
    for (const response of this.#inFlight.keys()) leaveConnection(response);
    if (await this.#within(closed, this.#timeouts.drainMs)) return;

    this.#parts.log.warn('answers in flight were cut', { count: this.#inFlight.size });
    this.#parts.endStreams(STOPPING);
    for (const response of this.#inFlight.keys()) answerStopping(response, this.#parts.clock.now());
    if (await this.#within(closed, LAST_WORD_MS)) return;
    this.#server.closeAllConnections();
    await closed;
  }

  async #open(): Promise<void> {
    const { host, port } = this.#parts;
    if (this.#closing) throw new OryxError('ORYX_STOPPING', 'The server has been closed.');
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen({ host: bareHost(host), port }, () => {
          this.#server.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      throw new OryxError('ORYX_CONFIG', listenProblem(error, host, port), { cause: error });
    }
  }

  async #serve(...[request, response]: Parameters<RequestHandler>): Promise<void> {
    const { clock, handler } = this.#parts;
    this.#inFlight.set(response, request.socket);
    let stopWaiting: Disposer = () => {};
    response.once('close', () => {
      this.#inFlight.delete(response);
      void stopWaiting();
      if (this.#closing) this.#endIfIdle(request.socket);
    });
    if (this.#closing) leaveConnection(response);
    await handler(request, response);
    if (!response.destroyed && response.writableLength > 0) {
      stopWaiting = clock.after(this.#timeouts.answerMs, () => response.destroy());
    }
  }

  /** Node counts a connection that has not sent a request yet as busy, so idle is decided here. */
  #endIfIdle(socket: Socket): void {
    if (![...this.#inFlight.values()].includes(socket)) socket.destroySoon();
  }

  /** Writes past the HTTP layer, so only where no answer has begun on the connection. */
  #refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const open = [...this.#inFlight].filter(([, owner]) => owner === socket).map(([response]) => response);
    const isFree = open.length === 0 || (open.length === 1 && open[0]?.headersSent === false && !open[0].req.complete);
    if (!socket.writable || error.code === 'ECONNRESET' || !isFree) {
      socket.destroy();
      return;
    }
    socket.end(clientErrorResponse(error.code, this.#parts.clock.now()), () => socket.destroy());
  }

  async #announce(fn: (address: HttpAddress) => void | Promise<void>): Promise<void> {
    try {
      if (this.#address !== undefined) await fn(this.#address);
    } catch (error) {
      this.#parts.log.error('a listener of the open port failed', { error });
    }
  }

  /** True when `promise` resolves in time. */
  #within(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = this.#parts.clock.after(timeoutMs, () => resolve(false));
      void promise.then(() => {
        stop();
        resolve(true);
      });
    });
  }
}

/** Lets a connection end with its present answer, so that a client does not send the next request into a closing one. */
function leaveConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function answerStopping(response: ServerResponse, at: number): void {
  if (response.headersSent) return;
  const body = errorBody(STOPPING, at);
  response.writeHead(STOPPING.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  response.end(body);
}
