/** The one shape of every JSON answer. */
import { isOryxError } from '../../kernel/index.ts';

/** What an error looks like to a client. */
export interface ErrorView {
  /** HTTP status and `code` of the envelope. */
  readonly status: number;
  readonly message: string;
  /** False for a fault of ours: the text is constant then, and the cause belongs into the log. */
  readonly expected: boolean;
}

/** An answer that succeeded; `undefined` becomes `null`. Throws for data that JSON cannot hold. */
export const successBody = (data: unknown, at: number): string =>
  JSON.stringify({ code: 0, message: 'success', data: data ?? null, timestamp: at });

/** An answer that failed; `at` in epoch milliseconds. */
export const errorBody = (view: Pick<ErrorView, 'status' | 'message'>, at: number): string =>
  JSON.stringify({ code: view.status, message: view.message, data: null, timestamp: at });

/**
 * Translates anything that was thrown. Only the message of an OryxError is fit for a client.
 *
 * @param mask  hides secrets: messages quote what tools and clients have said
 */
export function errorView(error: unknown, mask: (text: string) => string): ErrorView {
  if (isOryxError(error) && Number.isInteger(error.status)) return { status: error.status, message: mask(error.message), expected: true };
  return { status: 500, message: 'Internal server error', expected: false };
}
