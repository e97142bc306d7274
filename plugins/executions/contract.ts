/** Runs that nobody waits for: their record, their deadline and their end. */
import type { Statement } from '../../kernel/index.ts';
export { pause, writeAtLast, type WriteAtLastParts } from './write-at-last.ts';

/** A run that is about to be accepted. */
export interface NewExecution {
  /** Id of the run. */
  readonly traceId: string;
  readonly agent: string;
  readonly source: 'manual' | 'schedule';
  readonly sessionId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Bounds the running time in this process, not the wait in the queue; absent: only the agent's own limit counts. */
  readonly timeoutMs?: number | undefined;
}

/** How a run ended. */
export interface RunEnding {
  readonly status: 'success' | 'failed' | 'interrupted';
  readonly errorMessage: string | null;
  /** Why, when it did not just complete: `cancelled`, `timeout`, `max_iterations`, `loop`, or a sentence. */
  readonly reason: string | null;
  /** Epoch milliseconds. */
  readonly endedAt: number;
}

/** The service `executions`. */
export interface Executions {
  /** The row of a run; it must commit with the run's acceptance. */
  begun(execution: NewExecution): Statement;
  /**
   * Follows a run to its end, ends it at its deadline, and resolves when its end is recorded; at once for one that ended earlier. Following
   * twice is following once. Resolves with undefined when the server stops first: the next start goes on.
   *
   * Rejects with ORYX_TURN_UNKNOWN for a run that was never accepted.
   */
  follow(traceId: string): Promise<RunEnding | undefined>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    executions: Executions;
  }
}
