/** What came of one input, in the words of the corpus. */
import type { ToolResult } from '../../kernel/index.ts';
import type { Answer } from '../harness/http-client.ts';

export interface Observation {
  /** `allow`, `deny` (a guard's no), `error` (any other failure), `reject` (an HTTP error). */
  readonly outcome: 'allow' | 'deny' | 'error' | 'reject';
  readonly text: string;
  readonly retryable?: boolean;
  readonly blockedBy?: string;
  readonly status?: number;
  /** Run of the call, for the audit. */
  readonly traceId?: string;
  /** An answer that is no envelope although it should be one. */
  readonly malformed?: string;
}

/** A tool's result. */
export function observedResult(result: ToolResult, traceId: string): Observation {
  if (result.success) return { outcome: 'allow', text: result.content, traceId };
  const { errorMessage: text, retryable, blockedBy } = result;
  return blockedBy === undefined
    ? { outcome: 'error', text, retryable, traceId }
    : { outcome: 'deny', text, retryable, blockedBy, traceId };
}

/** An answer of the API. */
export function observedAnswer({ status, text, code, data, headers }: Answer): Observation {
  if (status < 400) return { outcome: 'allow', text, status };
  const isEnvelope = code === status && data === null && String(headers['content-type']).includes('json');
  return { outcome: 'reject', text, status, ...(!isEnvelope && { malformed: `${status} without the envelope: ${text.slice(0, 200)}` }) };
}
