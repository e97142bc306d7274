/** HTTP answers in words for a model. */
import type { ToolResult, ToolRun } from '../../kernel/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { HttpProblem, printable } from '../outside/contract.ts';
import type { HttpAnswer } from '../outside/contract.ts';
import { charsetOf, decoded } from './charset.ts';
import type { Fence } from './fenced.ts';

/** What is read of a body, and what of it is shown. */
export const MAX_READ_BYTES = 5 * 1024 * 1024;
const MAX_SHOWN_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 4 * 1024;

/** A body as far as it was read. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  /** There is more. */
  readonly cut: boolean;
}

/** Results of `work`, and an HttpProblem as the failure that it is. Refusals of guards pass through. */
export async function httpResult(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const { message, blockedBy } = error;
    return blockedBy === undefined ? fail(message) : { success: false, errorMessage: message, retryable: false, blockedBy };
  }
}

/** Reads a body up to a limit; the rest is left on the wire. */
export async function readBody({ body }: HttpAnswer, maxBytes: number): Promise<ReadBody> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.byteLength;
    if (length > maxBytes) return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), cut: true };
  }
  return { bytes: Buffer.concat(pieces), cut: false };
}

/** True for a status that means failure. */
export const isFailure = ({ status }: HttpAnswer): boolean => status >= 400;

/** "404 Not Found", and the start of the body, fenced. */
export async function failureOf(answer: HttpAnswer, run: ToolRun, fence: Fence): Promise<ToolResult> {
  const { bytes } = await readBody(answer, MAX_ERROR_BYTES);
  const status = `${answer.status} ${answer.reason}`.trim();
  if (bytes.byteLength === 0 || bytes.includes(0)) return fail(status);
  return fail(`${status}:\n${fence(run, sourceOf(answer), decoded(bytes, charsetOf(answer.headers['content-type'])))}`);
}

/** Who answered, for the fence. */
export const sourceOf = ({ url }: HttpAnswer): string => `answer from ${new URL(url).host}`;

/** The body as text in a fence; `(empty response)` for none. `head` is shown before it, in the same fence. */
export async function textResult(answer: HttpAnswer, run: ToolRun, fence: Fence, head = ''): Promise<ToolResult> {
  const { bytes, cut } = await readBody(answer, MAX_READ_BYTES);
  const type = answer.headers['content-type'];
  const shown = bytes.subarray(0, MAX_SHOWN_BYTES);
  if (bytes.byteLength === 0) return ok(head === '' ? '(empty response)' : `${fence(run, sourceOf(answer), head)}\n(empty response)`);
  const text = decoded(shown, charsetOf(type));
  if (text.includes('\0')) return fail(`Not text but ${printable(type ?? 'binary data').slice(0, 100)}; use download_file to keep it`);
  const fenced = fence(run, sourceOf(answer), head === '' ? text : `${head}\n\n${text}`);
  if (bytes.byteLength <= MAX_SHOWN_BYTES) return ok(fenced);
  return ok(`${fenced}\n[cut: the first ${MAX_SHOWN_BYTES} bytes of ${cut ? 'more than ' : ''}${bytes.byteLength} are shown]`);
}
