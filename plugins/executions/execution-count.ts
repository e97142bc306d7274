import type { Metric } from '../metrics/contract.ts';
import type { NewExecution, RunEnding } from './contract.ts';

const SOURCES = ['manual', 'schedule'] as const;
const OUTCOMES = ['success', 'failed', 'interrupted'] as const;

/** Counts the ends of runs since the start of the process. */
export interface ExecutionCount {
  readonly metric: Metric;
  readonly add: (source: NewExecution['source'], outcome: RunEnding['status']) => void;
}

/** A count with every series at 0. */
export function executionCount(): ExecutionCount {
  const series = SOURCES.flatMap((source) => OUTCOMES.map((outcome) => ({ labels: { source, outcome }, value: 0 })));
  return {
    add(source, outcome) {
      const one = series.find(({ labels }) => labels.source === source && labels.outcome === outcome);
      if (one !== undefined) one.value += 1;
    },
    metric: {
      name: 'oryxos_executions_total',
      kind: 'counter',
      help: 'Runs that were triggered by hand or by a schedule, by how they ended.',
      labels: ['source', 'outcome'],
      values: () => series,
    },
  };
}
