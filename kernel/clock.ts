/** The system's time. */
import type { Clock } from './contract/index.ts';

/** The longest delay a Node timer takes; it fires a longer one at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A clock on the machine's own time. Its timers keep no process alive and take delays of any length. */
export function systemClock(): Clock {
  return { now: () => Date.now(), monotonic: () => performance.now(), after };
}

function after(delayMs: number, fn: () => void): () => void {
  let leftMs = delayMs;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const partMs = Math.min(leftMs, MAX_DELAY_MS);
    leftMs -= partMs;
    timer = setTimeout(() => (leftMs > 0 ? arm() : fn()), partMs).unref();
  };
  arm();
  return () => clearTimeout(timer);
}
