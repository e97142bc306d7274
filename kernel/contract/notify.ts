/** What the kernel asks of an adapter that sends messages to people. */
import type { OutgoingHttp } from './provider.ts';

/** Where a message goes: a channel that an administrator registered. */
export interface NotifyTarget {
  readonly channel: string;
  readonly url: string;
  /** What was configured for the channel, secrets in clear. Never log it. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** One message, or one part of a long one. */
export interface NotifyMessage {
  readonly content: string;
  /** The same message has the same key however often it is sent. */
  readonly key: string;
  /** Time of this attempt in epoch milliseconds, for signatures. */
  readonly at: number;
}

/**
 * How sending went. `message` is fit for the model: it names no URL and no secret.
 *
 * - `refused`: the receiver said no, and would say it again.
 * - `later`: it was not taken, and may be sent again; not before `retryAfterMs` if the receiver said so.
 * - `unknown`: it may have arrived; no answer tells.
 */
export type NotifyOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly kind: 'refused' | 'later' | 'unknown';
      readonly message: string;
      /** The receiver's own code for it, as text. */
      readonly code?: string;
      readonly retryAfterMs?: number;
    };

/** A bucket of `count` tokens: a message takes one, which comes back `perMs` later. So never more than `count` in any span of `perMs`. */
export interface NotifyRate {
  readonly count: number;
  readonly perMs: number;
}

/**
 * Speaks to one kind of receiver. Registered by name, which is the `type` of channels, in the extension point `notifyAdapter`. It translates:
 * it has no table, no queue and no policy.
 *
 * @example
 * ```ts
 * ctx.register('notifyAdapter', {
 *   name: 'pager',
 *   maxSize: 500,
 *   async send({ content, key }, { url }, http, signal) {
 *     const headers = { 'content-type': 'application/json', 'idempotency-key': key };
 *     const body = JSON.stringify({ text: content });
 *     const answer = await http.request({ method: 'POST', url, headers, body, signal, connectTimeoutMs: 10_000 });
 *     for await (const _ of answer.body) break;
 *     const { status } = answer;
 *     return status < 300 ? { ok: true } : { ok: false, kind: 'refused', message: `the pager answered ${status}` };
 *   },
 * });
 * ```
 */
export interface NotifyAdapter {
  readonly name: string;
  /** The largest message that the receiver takes, in what `sizeOf` measures. A longer one is sent in several parts. Absent: no limit. */
  readonly maxSize?: number;
  /** Absent: bytes of the text in UTF-8. Must grow with the text. */
  sizeOf?(content: string): number;
  /** What a channel may send; all of them hold. Absent: as much as it likes. */
  readonly rates?: readonly NotifyRate[];
  /** The receiver knows a key that it has seen, so a message whose outcome is unknown may be sent again. */
  readonly repeatable?: boolean;
  /** Why a channel's configuration cannot work, naming the key, or undefined when it can. Secrets may not be known yet and are then absent. */
  configProblem?(config: Readonly<Record<string, unknown>>): string | undefined;
  /**
   * Sends once: no retry inside, redirects are failures. Failures are values; what is thrown counts as `unknown`, so an adapter that knows
   * that nothing was sent says `later`. `signal` aborts when the server stops or the attempt takes too long.
   */
  send(message: NotifyMessage, target: NotifyTarget, http: OutgoingHttp, signal: AbortSignal): Promise<NotifyOutcome>;
}
