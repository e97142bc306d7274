/** What the outcome of an attempt means for its message. */
import type { NotifyOutcome } from '../../kernel/index.ts';
import type { OutboxEnding, OutboxRow, Setback } from './outbox-repository.ts';

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 10 * 60 * 1000;
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;
const MAX_ERROR_CHARS = 500;
const MAX_CODE_CHARS = 100;

/** How one attempt went. */
export type AttemptResult = 'delivered' | 'refused' | 'later' | 'unknown';

/** The end of the message, or when to go on with it. */
export type Verdict =
  | OutboxEnding
  | { readonly state: 'pending'; readonly failures: number; readonly setback: Setback | undefined; readonly nextAttemptAt: number | null };

/** What the verdict depends on beside message and outcome. */
export interface Circumstances {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The receiver knows a key that it has seen. */
  readonly isRepeatable: boolean;
  /** Hides secrets. */
  readonly mask: (text: string) => string;
}

/** @param row  the message as it was when the attempt began, with the number of its parts */
export function verdictOf(outcome: NotifyOutcome, row: OutboxRow, { now, isRepeatable, mask }: Circumstances): Verdict {
  if (outcome.ok) {
    if (row.parts_sent + 1 === row.parts) return { state: 'delivered', setback: undefined, endedAt: now };
    return { state: 'pending', failures: 0, setback: undefined, nextAttemptAt: null };
  }
  const { kind, message, code, retryAfterMs } = outcome;
  const setback = { error: cut(mask(message), MAX_ERROR_CHARS), code: code === undefined ? undefined : cut(mask(code), MAX_CODE_CHARS) };
  if (kind === 'refused') return { state: 'failed', setback, endedAt: now };
  if (kind === 'unknown' && !isRepeatable) return { state: 'unknown', setback, endedAt: now };
  const nextAttemptAt = Math.min(now + backoffMs(row.failures, retryAfterMs), row.expires_at);
  return { state: 'pending', failures: row.failures + 1, setback, nextAttemptAt };
}

/** Doubles with every failure, unless the receiver has said when. */
function backoffMs(failures: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) return Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
  return Math.min(Math.max(retryAfterMs, FIRST_BACKOFF_MS), MAX_RETRY_AFTER_MS);
}

/** Never between the halves of a surrogate pair. */
const cut = (text: string, maxChars: number): string => text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
