/** What features need to serve HTTP: routes as data, answers as values. Importable by plugins as `oryxos/http`. */
import type { Disposer, FromSchema, JsonSchema, Named } from '../../kernel/index.ts';

/** A request whose params, query and body have passed the route's schemas. */
export interface HttpRequest<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The body's text as it came, for signatures; "" for a route that takes none. */
  readonly rawBody: string;
  readonly method: string;
  /** Path without query, percent-encoded as it came. */
  readonly path: string;
  /** A request header by lower-case name. */
  header(name: string): string | undefined;
  /** True when `Accept` asks for `text/event-stream`. */
  readonly wantsStream: boolean;
  /** Adds a response header. */
  setHeader(name: string, value: string): void;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** One SSE event; `data` is sent as single-line JSON. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Writes to one SSE client. Writing to a client that has left, or was dropped for reading too slowly, does nothing. */
export interface EventSink {
  send(event: ServerEvent): void;
  readonly closed: boolean;
}

const KIND = Symbol('oryxos.http.answer');

/** A stream of events; heartbeats, ids, back-pressure and the end of the response are the server's business. */
export interface EventStreamAnswer {
  readonly [KIND]: 'stream';
  /** Runs until the stream is over. Throwing sends one `error` event. Goes on when the client leaves. */
  readonly run: (sink: EventSink) => Promise<void>;
}

/** An answer outside the envelope: a page, a download, a metrics text. */
export interface RawAnswer {
  readonly [KIND]: 'raw';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Answers with an event stream. Everything that can fail with 4xx must have failed before. */
export const eventStream = (run: (sink: EventSink) => Promise<void>): EventStreamAnswer => ({ [KIND]: 'stream', run });

/** Answers with bytes as they are. */
export const raw = (status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array): RawAnswer => ({
  [KIND]: 'raw',
  status,
  headers,
  body,
});

/** Which of the three kinds of answer a handler gave. */
export function answerKind(answer: unknown): 'data' | 'stream' | 'raw' {
  if (typeof answer !== 'object' || answer === null || !(KIND in answer)) return 'data';
  return (answer as EventStreamAnswer | RawAnswer)[KIND];
}

/** One endpoint, as data. `name` is method and path, e.g. "GET /api/v1/agents/{name}". */
export interface Route extends Named {
  readonly summary: string;
  /** What it does to the system; authentication will ask for it. */
  readonly kind: 'read' | 'write' | 'admin';
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  /** Absent: the route takes no body. */
  readonly body?: JsonSchema;
  /** Body may be missing altogether; the handler then sees `{}`. */
  readonly bodyOptional?: boolean;
  /** Bytes; default 1 MB. */
  readonly maxBodyBytes?: number;
  /** Schema of `data` in the envelope. */
  readonly answer?: JsonSchema;
  /** May answer with an event stream. */
  readonly streams?: boolean;
  /** Content type of an answer that is `raw(…)`, e.g. "text/plain". Pages and their files (HTML, CSS, JavaScript, images) stay out of the API document. */
  readonly produces?: string;
  /** Request headers that `handle` reads, by name; for the API document only, nothing is checked with it. */
  readonly headers?: JsonSchema;
  /** HTTP statuses that `handle` answers with beside those that follow from what it takes and does; for the API document only. */
  readonly errors?: readonly number[];
  /** Returns `data`, `eventStream(…)` or `raw(…)`. Throws OryxError for every answer that is not 200. */
  // oxlint-disable-next-line typescript/no-explicit-any -- request types are erased, they exist only for the author
  handle(request: HttpRequest<any, any, any>): unknown;
}

/**
 * Declares a route; the schemas type the request.
 *
 * @example
 * ```ts
 * ctx.register('route', defineRoute({
 *   name: 'GET /api/v1/hello/{who}',
 *   summary: 'Greet somebody',
 *   kind: 'read',
 *   params: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
 *   handle: ({ params }) => ({ greeting: `Hello, ${params.who}.` }),
 * }));
 * ```
 */
export function defineRoute<
  const P extends JsonSchema = JsonSchema,
  const Q extends JsonSchema = JsonSchema,
  const B extends JsonSchema = JsonSchema,
>(
  route: Omit<Route, 'handle' | 'params' | 'query' | 'body'> & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    handle(request: HttpRequest<FromSchema<P>, FromSchema<Q>, FromSchema<B>>): unknown;
  },
): Route {
  return route;
}

/** The server's address, once it listens. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** The HTTP server. */
export interface HttpServer {
  /** Opens the port. Called once, when everything is loaded. Rejects with ORYX_CONFIG when the port is in use or the host unknown, and says which. */
  listen(): Promise<HttpAddress>;
  readonly address: HttpAddress | undefined;
  /** Calls `fn` once the port is open, now if it already is. `listen` waits for what it returns; a failure is logged. */
  onListening(fn: (address: HttpAddress) => void | Promise<void>): Disposer;
  /** Warnings about how it is bound, for `/api/v1/info`. */
  readonly warnings: readonly string[];
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    route: Route;
  }
  interface Services {
    http: HttpServer;
  }
}
