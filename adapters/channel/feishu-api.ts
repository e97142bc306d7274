/** The part of Feishu's API that a bot needs to answer. */
import { isOryxError, type ChannelReply, type NotifyOutcome, type OutgoingHttp } from '../../kernel/index.ts';
import { isNothingSent, networkReason } from '../shared/network-failure.ts';
import type { FeishuSettings } from './feishu-settings.ts';
import { type JsonObject, objectAt, parsedObject, textAt } from '../shared/json.ts';

/** Feishu hands out a new token in the last half hour of the old one, and both are good then. */
const RENEW_BEFORE_MS = 10 * 60 * 1000;
const CONNECT_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** The access token is missing, not valid, or not valid any more. */
const TOKEN_CODES: ReadonlySet<number> = new Set([99991661, 99991663, 99991664]);
/** Too many requests: of the app, and into one chat. */
const RATE_CODES: ReadonlySet<number> = new Set([99991400, 230020]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject | undefined;
  readonly code: number | undefined;
}

type Failure = Extract<NotifyOutcome, { readonly ok: false }>;
type Token = { readonly ok: true; readonly value: string } | Failure;

/** One app's access. Keeps its token and the bot's id. */
export class FeishuApi {
  readonly #settings: FeishuSettings;
  readonly #http: OutgoingHttp;
  #token: { readonly value: string; readonly renewAt: number } | undefined;
  #botId: string | undefined;

  constructor(settings: FeishuSettings, http: OutgoingHttp) {
    this.#settings = settings;
    this.#http = http;
  }

  /** Answers a message with text. Feishu takes no second message with the same `uuid` within an hour. */
  async reply({ messageId, content, key, at }: ChannelReply, signal: AbortSignal): Promise<NotifyOutcome> {
    const path = `/open-apis/im/v1/messages/${encodeURIComponent(messageId)}/reply`;
    const answer = await this.#withToken('POST', path, { ...textMessage(content), uuid: key }, at, signal);
    if ('ok' in answer) return answer;
    return answer.code === 0 && answer.status < 300 ? { ok: true } : failureOf(answer);
  }

  /** The `open_id` under which the bot is mentioned, or why it cannot be told. */
  async botId(at: number, signal: AbortSignal): Promise<{ readonly ok: true; readonly id: string } | Failure> {
    if (this.#botId === undefined) {
      const answer = await this.#withToken('GET', '/open-apis/bot/v3/info', undefined, at, signal);
      if ('ok' in answer) return answer;
      this.#botId = answer.body && textAt(objectAt(answer.body, 'bot'), 'open_id');
      if (this.#botId === undefined) return failureOf(answer);
    }
    return { ok: true, id: this.#botId };
  }

  /** Sends with the token; once more with a new one when the token is not taken: the request was not looked at then. */
  async #withToken(method: 'GET' | 'POST', path: string, body: unknown, at: number, signal: AbortSignal): Promise<Answer | Failure> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#tokenAt(at, signal);
      if (!token.ok) return token;
      const answer = await this.#send(method, path, body, { authorization: `Bearer ${token.value}` }, signal);
      if ('ok' in answer || !TOKEN_CODES.has(answer.code ?? 0)) return answer;
      this.#token = undefined;
      if (attempt === 2) return { ...failureOf(answer), kind: 'later' };
    }
  }

  async #tokenAt(at: number, signal: AbortSignal): Promise<Token> {
    if (this.#token !== undefined && at < this.#token.renewAt) return { ok: true, value: this.#token.value };
    const { appId, appSecret } = this.#settings;
    const body = { app_id: appId, app_secret: appSecret };
    const answer = await this.#send('POST', '/open-apis/auth/v3/tenant_access_token/internal', body, {}, signal);
    // Nothing has been sent yet but the question for a token, and an administrator may set the secret right.
    if ('ok' in answer) return { ...answer, kind: answer.kind === 'refused' ? 'refused' : 'later' };
    const value = answer.body && textAt(answer.body, 'tenant_access_token');
    if (answer.code !== 0 || value === undefined) return { ...failureOf(answer), kind: 'later' };
    const lifeMs = Number(answer.body?.['expire'] ?? 0) * 1000;
    this.#token = { value, renewAt: at + Math.max(0, lifeMs - RENEW_BEFORE_MS) };
    return { ok: true, value };
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer | Failure> {
    try {
      const { status, ...answer } = await this.#http.request({
        method,
        url: `${this.#settings.baseUrl}${path}`,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
          accept: 'application/json',
          'accept-encoding': 'identity',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        readTimeoutMs: READ_TIMEOUT_MS,
      });
      const parsed = parsedObject(await textOf(answer.body));
      const code = parsed?.['code'];
      return { status, headers: answer.headers, body: parsed, code: typeof code === 'number' ? code : undefined };
    } catch (error) {
      if (isOryxError(error) && error.code === 'ORYX_REFUSED') return { ok: false, kind: 'refused', message: error.message };
      const kind = isNothingSent(error) ? 'later' : 'unknown';
      return { ok: false, kind, message: `Feishu could not be asked: ${networkReason(error)}` };
    }
  }
}

/** Tags in a text would mention people, everybody even; what an agent says is not to do that. */
function textMessage(text: string): { readonly msg_type: 'text'; readonly content: string } {
  return { msg_type: 'text', content: JSON.stringify({ text: text.replaceAll(/<(?=\/?at\b)/gi, '<\u200b') }) };
}

/** Bytes of the text in the body of a request, where it is JSON inside of JSON. */
export const replyBytes = (text: string): number => Buffer.byteLength(JSON.stringify(textMessage(text)));

function failureOf({ status, headers, body, code }: Answer): Failure {
  const said = (body && (textAt(body, 'msg') ?? textAt(body, 'message'))) ?? '';
  const message = `Feishu answered ${code ?? `HTTP ${status}`}${said === '' ? '' : `: ${said.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 200)}`}`;
  const failed = { ok: false, message, code: String(code ?? status) } as const;
  if (status === 429 || RATE_CODES.has(code ?? 0)) {
    const waitMs = Number(headers['x-ogw-ratelimit-reset'] ?? headers['retry-after']) * 1000;
    return { ...failed, kind: 'later', ...(waitMs > 0 && { retryAfterMs: waitMs }) };
  }
  // Without a code it is a proxy or a fault of theirs that has answered.
  return { ...failed, kind: status >= 500 || (status < 300 && code === undefined) ? 'unknown' : 'refused' };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
