/** The openai SDK over the HTTP client that was handed in. */
import type OpenAI from 'openai';
import type { OutgoingHttp, ProviderSettings } from '../../kernel/index.ts';
import { CallFailure } from './call-failure.ts';
import type { FailureWriter } from './call-failure.ts';
import { readText } from './read-text.ts';

/** An error's body is only searched for a reason. */
const MAX_ERROR_BYTES = 64 * 1024;
/** The SDK's own limit must never come first: the deadlines belong to the HTTP client. */
const SLACK_MS = 60_000;

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
}

/** Sends one request and gives the body of a success. Throws CallFailure, or what the HTTP client throws. */
export type Send = (call: Call, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/**
 * A sender for one provider. The SDK is loaded with the first call and never opens a socket, repeats a request or reads the environment's
 * OPENAI_* settings into one: what goes out is the method, URL and body of the call and the headers written here.
 */
export function sdkTransport(settings: ProviderSettings, http: OutgoingHttp, failures: FailureWriter): Send {
  let client: Promise<OpenAI> | undefined;

  async function connect(): Promise<OpenAI> {
    const { default: Sdk } = await import('openai');
    return new Sdk({
      // A stand-in: the SDK insists on a key, the header is set below.
      apiKey: 'unused',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: 'http://provider.invalid',
      maxRetries: 0,
      timeout: settings.connectTimeoutMs + settings.readTimeoutMs + SLACK_MS,
      logLevel: 'off',
      fetch: fetchOver(settings, http, failures),
    });
  }

  return async ({ method, url, body }, signal) => {
    client ??= connect();
    const sdk = await client;
    // The SDK never removes its listener: it gets a signal that ends with the call.
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      const options = { signal: controller.signal, headers: { 'content-type': 'application/json' } };
      const sent = method === 'GET' ? sdk.get(url, options) : sdk.post(url, { ...options, body });
      const response = await sent.asResponse();
      return bodyOf(response.body as unknown as AsyncIterable<Uint8Array>, signal, abort);
    } catch (error) {
      signal.removeEventListener('abort', abort);
      throw causeOf(error);
    }
  };
}

/** The SDK wraps what its fetch threw. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof CallFailure ? error.cause : error;
}

async function* bodyOf(body: AsyncIterable<Uint8Array>, signal: AbortSignal, abort: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** A `fetch` that answers with a plain object of a Response's shape: a real one costs more than the rest of the call. */
function fetchOver(settings: ProviderSettings, http: OutgoingHttp, failures: FailureWriter): typeof fetch {
  const headers = {
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': 'oryxos',
    ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
  };
  const plainFetch = async (url: string, init: RequestInit): Promise<object> => {
    const signal = init.signal ?? new AbortController().signal;
    try {
      const answer = await http.request({
        method: init.method === 'GET' ? 'GET' : 'POST',
        url,
        headers,
        ...(typeof init.body === 'string' && { body: init.body }),
        signal,
        connectTimeoutMs: settings.connectTimeoutMs,
        readTimeoutMs: settings.readTimeoutMs,
      });
      if (answer.status < 200 || answer.status > 299) {
        // Without its body an error has a status and no reason.
        const body = await readText(answer.body, MAX_ERROR_BYTES).catch(() => '');
        throw new CallFailure(failures.http(answer.status, answer.headers, body));
      }
      return { ok: true, status: answer.status, url, headers: new Map(Object.entries(answer.headers)), body: answer.body };
    } catch (error) {
      throw error instanceof CallFailure ? error : new CallFailure(failures.thrown(error));
    }
  };
  return plainFetch as unknown as typeof fetch;
}
