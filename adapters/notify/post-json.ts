/** One POST of JSON, and what its status means. */
import type { NotifyTarget, OutgoingHttp } from '../../kernel/index.ts';
import { headersOf } from './configuration.ts';
import { parsedObject } from '../shared/json.ts';
import { networkFailure } from './network-failure.ts';
import { type NotifyFailure, shown } from './outcome.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** A message as it goes out. `label` names the receiver in texts, `at` is the time of the attempt in epoch milliseconds. */
export interface Post {
  readonly label: string;
  readonly target: NotifyTarget;
  readonly body: string;
  readonly at: number;
  /** Instead of the target's own, when something is added to it. */
  readonly url?: string;
  /** Beside those of the channel's configuration. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back. Names of headers are in lower case; of the body there is as much as could be read, at most 64 KiB. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The answer, whatever its status, or why there is none. */
export type Posted = { readonly ok: true; readonly answer: Answer } | NotifyFailure;

/** Sends once and reads the answer. Failures of the network are values; nothing is thrown. */
export async function postJson(post: Post, http: OutgoingHttp, signal: AbortSignal): Promise<Posted> {
  const { label, target, body, url = target.url } = post;
  if (signal.aborted) return { ok: false, kind: 'later', message: `the message was not sent to ${label}: the attempt was broken off` };
  const headers = {
    ...headersOf(target.config),
    ...post.headers,
    'content-type': 'application/json; charset=utf-8',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'oryxos',
    // A kept connection may be closed by the other side while a request is on its way, and then nobody knows whether it arrived.
    connection: 'close',
  };
  const limits = { connectTimeoutMs: CONNECT_TIMEOUT_MS, readTimeoutMs: READ_TIMEOUT_MS, signal };
  try {
    const answer = await http.request({ method: 'POST', url, headers, body, ...limits });
    return { ok: true, answer: { status: answer.status, headers: answer.headers, text: await textOf(answer.body) } };
  } catch (error) {
    return networkFailure(label, error, target);
  }
}

/** What a status other than 2xx means; undefined for 2xx. */
export function statusFailure({ label, target, at }: Post, { status, headers, text }: Answer): NotifyFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  const failed = { ok: false, code: String(status) } as const;
  if (status < 400) {
    return { ...failed, kind: 'refused', message: `${label} answered ${status}: redirects are not followed, register the address itself` };
  }
  const reason = shown(reasonIn(text), target);
  const message = reason === '' ? `${label} answered ${status}` : `${label} answered ${status}: ${reason}`;
  if (status !== 408 && status !== 425 && status !== 429 && status < 500) return { ...failed, kind: 'refused', message };
  const retryAfterMs = retryAfterOf(headers, at);
  return { ...failed, kind: 'later', message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** `Retry-After` in milliseconds: it is seconds, or a date that is read against the answer's own `Date` (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: Answer['headers'], at: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const answeredAt = Date.parse(headers['date'] ?? '');
  const waitMs = Date.parse(value) - (Number.isNaN(answeredAt) ? at : answeredAt);
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}

/** The head has told the status: a body that breaks off only says less. */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // What was read before is all there is.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

/** The receiver's own words; pages for browsers have none. */
function reasonIn(text: string): string {
  const body = parsedObject(text);
  if (body === undefined) return /^\s*[<{[]/.test(text) ? '' : text;
  const { error } = body;
  const nested: unknown = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return [nested, error, body['message'], body['msg'], body['errmsg'], body['detail']].find((said) => typeof said === 'string') ?? '';
}
