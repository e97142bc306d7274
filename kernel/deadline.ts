/** Bounds a wait. */
import type { Clock } from './contract/index.ts';

/** Settles as `work` does, or rejects with `late()` after `timeoutMs`. What `work` brings after that is dropped, a failure too. */
export function within<T>(clock: Clock, timeoutMs: number, work: PromiseLike<T>, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(late()));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
