/** How a model call fails, in words that are safe to show. */
import type { LlmFailure, ProviderSettings } from '../../kernel/index.ts';
import { isOryxError } from '../../kernel/index.ts';
import { networkReason } from '../shared/network-failure.ts';
import { isObject, objectAt, parsedJson } from './json.ts';

const MAX_REASON_CHARS = 200;

/** Carries a failure through code that throws. Never leaves the adapter. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly failure: LlmFailure;
  constructor(failure: LlmFailure) {
    // A neutral text and no cause: the SDK searches both for words like "timeout" and then replaces the error by its own.
    super('the call failed');
    this.failure = failure;
  }
}

/** Writes the failures of one provider. */
export class FailureWriter {
  readonly #name: string;
  readonly #mask: (text: string) => string;

  constructor({ name, apiKey, mask = (text) => text }: Pick<ProviderSettings, 'name' | 'apiKey' | 'mask'>) {
    this.#name = name;
    this.#mask = (text) => mask(apiKey ? text.replaceAll(apiKey, '****') : text);
  }

  /** The request was given up by its caller. */
  aborted(): LlmFailure {
    return { kind: 'aborted', retryable: false, switchable: false, message: `Call to provider "${this.#name}" was cancelled` };
  }

  /** The provider cannot be asked at all. `reason` ends the sentence. */
  missing(reason: string): LlmFailure {
    return { kind: 'missing', retryable: false, switchable: true, message: `Provider "${this.#name}" ${reason}` };
  }

  /** What came was no answer. `what` ends the sentence. */
  protocol(what: string): LlmFailure {
    return { kind: 'protocol', retryable: true, switchable: true, message: `Provider "${this.#name}" ${what}` };
  }

  /** An HTTP status that is no success; `body` is only searched for the provider's own error message. */
  http(status: number, headers: Readonly<Record<string, string>>, body: string): LlmFailure {
    const temporary = status === 408 || status === 429 || status >= 500;
    const retryAfterMs = retryAfterOf(headers);
    return {
      kind: 'http',
      status,
      retryable: temporary,
      switchable: temporary || status === 401 || status === 403,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      message: `Provider "${this.#name}" answered ${status}${this.#reason(status, parsedJson(body))}`,
    };
  }

  /** An error that the provider reports inside an answer with status 200. */
  reported(error: unknown): LlmFailure {
    const code = isObject(error) ? Number(error['code'] ?? error['status']) : Number.NaN;
    if (Number.isInteger(code) && code >= 400 && code < 600) return this.http(code, {}, JSON.stringify({ error }));
    return this.protocol(`reported an error${this.#reason(0, { error })}`);
  }

  /** Anything that was thrown on the way. */
  thrown(error: unknown): LlmFailure {
    if (error instanceof CallFailure) return error.failure;
    const name = `Provider "${this.#name}"`;
    if (error instanceof Error && error.name === 'TimeoutError') {
      return {
        kind: 'timeout',
        retryable: true,
        switchable: true,
        message: `${name} did not answer in time: ${this.#clean(error.message)}`,
      };
    }
    if (isOryxError(error))
      return { kind: 'network', retryable: false, switchable: true, message: `${name} cannot be asked: ${error.message}` };
    return { kind: 'network', retryable: true, switchable: true, message: `${name} cannot be reached: ${networkReason(error)}` };
  }

  #reason(status: number, body: unknown): string {
    const said = this.#clean(reasonIn(body));
    if (said !== '') return `: ${said}`;
    return status >= 300 && status < 400 ? ': redirects are not followed, check the base URL' : '';
  }

  #clean(text: string): string {
    // Masked before it is cut: half a secret matches no mask.
    const plain = this.#mask(text)
      .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
      .trim();
    const masked = this.#mask(plain);
    return masked.length <= MAX_REASON_CHARS ? masked : `${cut(masked)}…`;
  }
}

/** Never between the halves of a surrogate pair. */
const cut = (text: string): string => text.slice(0, MAX_REASON_CHARS).replace(/[\ud800-\udbff]$/, '');

function reasonIn(body: unknown): string {
  if (!isObject(body)) return '';
  const error = body['error'];
  const candidates = [objectAt(body, 'error')?.['message'], error, body['message'], body['detail']];
  return candidates.find((text) => typeof text === 'string') ?? '';
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date; a date is read against the response's own `Date` (RFC 9110, 10.2.3). */
function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const waitMs = Date.parse(value) - Date.parse(headers['date'] ?? '');
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}
