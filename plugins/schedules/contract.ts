/** Schedules: agents that act on time. */
import type { Named } from '../../kernel/index.ts';

/** A run that a message is about. */
export interface FailedRun {
  readonly traceId: string;
  readonly agent: string;
}

/** Tells people that a scheduled run failed. Registered, as the only item of its point, by a plugin that can reach people. */
export interface FailureNotifier extends Named {
  /**
   * Hands a message over to a notify channel. Resolves when it will be delivered, or rejects with an error whose message says why not.
   *
   * @param key  the same key twice is the same message
   * @param origin  the run that failed
   */
  notify(channel: string, content: string, key: string, origin: FailedRun): Promise<void>;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    failureNotifier: FailureNotifier;
  }
}
