/** Numbers for monitoring. Any plugin can add its own; they are shown as long as they are registered. */
import type { Named } from '../../kernel/index.ts';

/** One number of a metric. `labels` has a value for each label of the metric. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A metric in the form of Prometheus, registered in the extension point `metric`. What it counts its owner keeps.
 *
 * @example
 * ```ts
 * let sent = 0;
 * ctx.register('metric', {
 *   name: 'oryxos_messages_sent_total',
 *   kind: 'counter',
 *   help: 'Messages that were sent.',
 *   labels: [],
 *   values: () => [{ labels: {}, value: sent }],
 * });
 * ```
 */
export interface Metric extends Named {
  /** "oryxos_<what>", in base units; that of a counter ends in "_total". */
  readonly name: string;
  /** A counter never goes down. */
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  /** Names of labels. Values must come from a small set: never sessions, runs or texts. */
  readonly labels: readonly string[];
  /** The present numbers, known series with 0 too. Called whenever somebody looks; one that throws or takes longer than 2 s is left out then. */
  values(): readonly MetricValue[] | Promise<readonly MetricValue[]>;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    metric: Metric;
  }
}
