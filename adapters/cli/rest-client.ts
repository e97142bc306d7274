/** Talks to the REST API of one server on this machine. */
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { ERROR_STATUS, messageOf, OryxError } from '../../kernel/index.ts';
import type { ErrorCode } from '../../kernel/index.ts';
import { readEvents } from './sse.ts';
import type { StreamEvent } from './sse.ts';

const ANSWER_TIMEOUT_MS = 60_000;
const HEALTH_TIMEOUT_MS = 2_000;

/** An answer that comes piece by piece. */
export interface EventStream {
  /** Of the run behind it, when the server said so before the first event. */
  readonly traceId: string | undefined;
  /** Ends with the connection. Rejects with an OryxError when it breaks, or when `signal` aborted it. */
  readonly events: AsyncIterable<StreamEvent>;
}

/**
 * Every method resolves with `data` of the envelope. It rejects with an OryxError that carries the server's message and a code of the
 * same HTTP status; when the server cannot be reached, the message says so.
 */
export interface RestClient {
  get<T>(path: string): Promise<T>;
  /** @param timeoutMs  of silence; default 60 s */
  post<T>(path: string, body?: unknown, timeoutMs?: number): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  delete<T>(path: string): Promise<T>;
  /** Posts and reads the answer as events; offers to answer questions of the run. Waits for the first byte without limit. */
  stream(path: string, body: unknown, signal: AbortSignal): Promise<EventStream>;
  /** Whether an OryxOS server answers there at once. */
  isHealthy(): Promise<boolean>;
  /** Drops idle connections. */
  close(): void;
}

/** A path from a template and values, e.g. pathOf`/api/v1/agents/${name}`; the values are percent-encoded. */
export function pathOf(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((path, part, index) => path + encodeURIComponent(values[index - 1] ?? '') + part);
}

/** A client of the server at `baseUrl`. The caller closes it. */
export function createRestClient(baseUrl: string): RestClient {
  const base = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true });

  const send = (method: string, path: string, body: unknown, options: SendOptions): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const unreachable = (cause: unknown): void =>
        reject(new OryxError('ORYX_INTERNAL', `No connection to ${base.origin}: ${messageOf(cause)}.`, { cause }));
      const outgoing = request(new URL(path, base), {
        method,
        agent,
        headers: {
          accept: options.accept ?? 'application/json',
          ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...(options.interactive ? { 'x-oryx-interactive': '1' } : {}),
        },
        ...(options.signal ? { signal: options.signal } : {}),
        ...(options.timeoutMs ? { timeout: options.timeoutMs } : {}),
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${(options.timeoutMs ?? 0) / 1000} s`)));
      outgoing.on('response', resolve);
      outgoing.on('error', unreachable);
      outgoing.end(text);
    });

  const call = async <T>(method: string, path: string, body?: unknown, timeoutMs = ANSWER_TIMEOUT_MS): Promise<T> => {
    const response = await send(method, path, body, { timeoutMs });
    return (await envelopeOf(response, base)) as T;
  };

  return {
    get: (path) => call('GET', path),
    post: (path, body, timeoutMs) => call('POST', path, body, timeoutMs),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
    async stream(path, body, signal) {
      const response = await send('POST', path, body, { accept: 'text/event-stream', interactive: true, signal });
      if (!(response.headers['content-type'] ?? '').startsWith('text/event-stream')) {
        await envelopeOf(response, base);
        throw new OryxError('ORYX_INTERNAL', `${base.origin} did not answer with a stream.`);
      }
      const traceId = response.headers['x-trace-id'];
      return { traceId: typeof traceId === 'string' ? traceId : undefined, events: readEvents(whole(response, base)) };
    },
    async isHealthy() {
      try {
        const health = await call<{ status?: unknown } | null>('GET', '/api/v1/health', undefined, HEALTH_TIMEOUT_MS);
        return health?.status === 'ok';
      } catch {
        return false;
      }
    },
    close: () => agent.destroy(),
  };
}

interface SendOptions {
  readonly accept?: string;
  readonly interactive?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

async function* whole(response: IncomingMessage, base: URL): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of response) yield chunk as Uint8Array;
  } catch (cause) {
    throw new OryxError('ORYX_INTERNAL', `The connection to ${base.origin} was lost.`, { cause });
  }
}

async function envelopeOf(response: IncomingMessage, base: URL): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of whole(response, base)) chunks.push(chunk);
  const status = response.statusCode ?? 500;
  const envelope = parsedEnvelope(Buffer.concat(chunks).toString('utf8'));
  if (envelope === undefined) throw new OryxError('ORYX_INTERNAL', `${base.origin} does not answer like OryxOS (HTTP ${status}).`);
  if (envelope.code !== 0) throw new OryxError(codeFor(status), envelope.message);
  return envelope.data;
}

function parsedEnvelope(text: string): { readonly code: number; readonly message: string; readonly data: unknown } | undefined {
  try {
    const { code, message, data } = JSON.parse(text) as Record<string, unknown>;
    return typeof code === 'number' && typeof message === 'string' ? { code, message, data } : undefined;
  } catch {
    return undefined;
  }
}

function codeFor(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'ORYX_INTERNAL';
}
