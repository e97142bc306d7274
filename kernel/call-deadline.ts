/** How long a tool call may take, and how it ends when its turn is aborted. */
import type { Clock, ToolResult } from './contract/index.ts';
import { messageOf, OryxError } from './errors.ts';
import { fail } from './result.ts';

/** How long an aborted tool may take to return what it has. */
const ABORT_GRACE_MS = 1_000;

/** A watch over one call. `signal` is for the tool; `over` resolves when its time is over; `release` ends the watch. */
export interface CallDeadline {
  readonly signal: AbortSignal;
  readonly over: Promise<ToolResult>;
  release(): void;
}

/**
 * Watches a call until it is released: aborts it with its turn, leaving it a moment to return by itself, and at its deadline.
 *
 * @param timeoutMs  0 for no deadline
 */
export function callDeadline(clock: Clock, turnSignal: AbortSignal, timeoutMs: number, toolName: string): CallDeadline {
  const abort = new AbortController();
  const timers: (() => void)[] = [];
  let end: (result: ToolResult) => void = () => undefined;
  const over = new Promise<ToolResult>((resolve) => {
    end = resolve;
  });
  const onAbort = (): void => {
    abort.abort(turnSignal.reason);
    const stopped = fail(`${toolName} was stopped: ${messageOf(turnSignal.reason)}`, { retryable: false });
    timers.push(clock.after(ABORT_GRACE_MS, () => end(stopped)));
  };
  const onDeadline = (): void => {
    const message = `${toolName} timed out after ${timeoutMs / 1000} s`;
    end(fail(message, { retryable: false }));
    abort.abort(new OryxError('ORYX_TURN_TIMEOUT', message));
  };
  if (timeoutMs > 0) timers.push(clock.after(timeoutMs, onDeadline));
  if (turnSignal.aborted) onAbort();
  turnSignal.addEventListener('abort', onAbort, { once: true });
  const release = (): void => {
    turnSignal.removeEventListener('abort', onAbort);
    for (const cancel of timers) cancel();
  };
  return { signal: abort.signal, over, release };
}
