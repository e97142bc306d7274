/** Waiting for something that happens soon, without a fixed sleep. */

/**
 * Polls until `condition` gives something truthy and resolves with it.
 *
 * @throws Error naming `what` when `timeoutMs` is over
 */
export async function until<T>(what: string, condition: () => T | Promise<T>, timeoutMs = 5_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
