import type { Clock } from '../../kernel/index.ts';

/** Calls `fn` with a signal that aborts when the time is over or `signal` aborts. It is up to `fn` to end then. */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  fn: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const stop = (): void => over.abort(signal.reason);
  const cancel = clock.after(timeoutMs, () => over.abort(new Error(`it took longer than ${timeoutMs / 1000} s`)));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await fn(over.signal);
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
}
