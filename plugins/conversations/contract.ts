/** Talking to agents: what other plugins need of it. */
import type { Statement } from '../../kernel/index.ts';
import type { HttpRequest } from '../http/contract.ts';
export { idempotencyHeaders } from './schemas.ts';

/** Lets a tool ask the person at the other end of a turn. */
export interface Asks {
  /**
   * Asks and waits for the answer, at most 5 minutes.
   *
   * @returns the answer, or undefined when nobody can answer, the time is over or the listener left
   */
  ask(turnId: string, question: string, signal: AbortSignal): Promise<string | undefined>;
}

/** What makes a request the same request again: method, path, body and the header `Idempotency-Key`. */
export type KeyedRequest = Pick<HttpRequest, 'method' | 'path' | 'body' | 'header'>;

/** Turns repeated requests into one run. For every endpoint that starts a run. */
export interface Idempotency {
  /**
   * Calls `accept` and resolves with `turnId`; unless the request carries a key that, within 24 hours, already stands for a run: then
   * `accept` is not called, or has changed nothing, and the id of that earlier run is the answer, be it in progress, ended or failed.
   * Requests that `accept` rejects leave no key behind. Without the header it only calls `accept`.
   *
   * Throws ORYX_INVALID_INPUT for a malformed key, ORYX_CONFLICT when the key was used with another body, and whatever `accept` throws.
   *
   * @param accept  makes the run durable; `rows` must commit together with it
   */
  once(request: KeyedRequest, turnId: string, accept: (rows: readonly Statement[]) => Promise<void>): Promise<string>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    asks: Asks;
    idempotency: Idempotency;
  }
}
