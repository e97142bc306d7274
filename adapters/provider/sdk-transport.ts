/** The openai SDK over the HTTP client that was handed in. */
import { createRequire } from 'node:module';
import type OpenAI from 'openai';
import type { OutgoingHttp, ProviderSettings } from '../../kernel/index.ts';
import { CallFailure } from './call-failure.ts';
import type { FailureWriter } from './call-failure.ts';
import { readText } from './read-text.ts';

const load = createRequire(import.meta.url);
// Found at the start, when there are files to open: Node remembers for ever what it could not find once.
const sdkFile = load.resolve('openai');
/** Throws what keeps it from being loaded, and tries anew the next time: an `import()` that has failed once fails for the life of the process. */
const loadSdk = (): { readonly OpenAI: typeof OpenAI } => load(sdkFile) as { readonly OpenAI: typeof OpenAI };

/** An error's body is only searched for a reason. */
const MAX_ERROR_BYTES = 64 * 1024;
/** The SDK's own limit must never come first: the deadlines belong to the HTTP client. */
const SLACK_MS = 60_000;

/** One request; `url` is complete, `body` is JSON text. */
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
  let client: OpenAI | undefined;

  function connect(): OpenAI {
    const { OpenAI: Sdk } = loadSdk();
    const sdk = new Sdk({
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
    // None of the headers that it writes goes out, and writing them costs more than our own part of the call.
    return Object.assign(sdk, { buildHeaders: () => Promise.resolve(new Headers()) });
  }

  return async ({ method, url, body }, signal) => {
    const sdk = (client ??= connect());
    // Not as the SDK's own options: it never removes its listener from a signal, and it looks at a body from all sides.
    const init: CallInit = { callSignal: signal, ...(body !== undefined && { callBody: body }) };
    const options: object = { fetchOptions: init };
    try {
      const response = await (method === 'GET' ? sdk.get(url, options) : sdk.post(url, options)).asResponse();
      return response.body as unknown as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw causeOf(error);
    }
  };
}

/** The SDK wraps what its fetch threw. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof CallFailure ? error.cause : error;
}

/** What the SDK hands on to its `fetch` with a call. */
interface CallInit {
  readonly method?: string;
  readonly callSignal: AbortSignal;
  readonly callBody?: string;
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
  const plainFetch = async (url: string, init: CallInit): Promise<object> => {
    try {
      const answer = await http.request({
        method: init.method === 'GET' ? 'GET' : 'POST',
        url,
        headers,
        ...(init.callBody !== undefined && { body: init.callBody }),
        signal: init.callSignal,
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
