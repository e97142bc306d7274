/** Answers for requests that are too broken to become one. */
import { STATUS_CODES } from 'node:http';
import { errorBody } from './envelope.ts';

const STATUS: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};
const MALFORMED = { status: 400, message: 'The request is not valid HTTP.' };

/** A whole response, head and envelope, for a fault of Node's HTTP parser; `at` in epoch milliseconds. The connection ends with it. */
export function clientErrorResponse(code: string | undefined, at: number): string {
  const view = STATUS[code ?? ''] ?? MALFORMED;
  return rawResponse(view, at);
}

/** A whole response that is written past the HTTP layer. */
export function rawResponse(view: { readonly status: number; readonly message: string }, at: number): string {
  const body = errorBody(view, at);
  return [
    `HTTP/1.1 ${view.status} ${STATUS_CODES[view.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
