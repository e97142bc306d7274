/** The order in which the calls of one model answer run. */
import type { ToolResult } from './contract/index.ts';

/** How many read-only calls run side by side. */
const MAX_PARALLEL = 8;

/** One call, ready to run. `readOnly` calls in a row run side by side; any other waits for what stands before it. */
export interface PlannedCall {
  readonly readOnly: boolean;
  run(): Promise<ToolResult>;
}

/**
 * Runs calls in order: consecutive read-only ones in parallel, any other alone. After a result for which `isFatal` says yes, calls in
 * flight finish and nothing new starts.
 *
 * @returns results in call order; undefined for calls that were not started
 */
export async function runInOrder(
  calls: readonly PlannedCall[],
  isFatal: (result: ToolResult) => boolean,
): Promise<readonly (ToolResult | undefined)[]> {
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  let stopped = false;
  const run = async (index: number): Promise<void> => {
    const result = await calls[index]?.run();
    results[index] = result;
    if (result && isFatal(result)) stopped = true;
  };
  for (let start = 0; start < calls.length && !stopped; ) {
    const end = batchEnd(calls, start);
    let next = start;
    const worker = async (): Promise<void> => {
      while (next < end && !stopped) await run(next++);
    };
    const settled = await Promise.allSettled(Array.from({ length: Math.min(MAX_PARALLEL, end - start) }, worker));
    for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
    start = end;
  }
  return results;
}

/** Where the batch that begins at `start` ends: one call, or as many read-only ones as stand in a row. */
function batchEnd(calls: readonly PlannedCall[], start: number): number {
  let end = start + 1;
  if (calls[start]?.readOnly) while (calls[end]?.readOnly) end += 1;
  return end;
}
