import { Counter, type Registry } from 'prom-client';
import type { Origin, TurnOutcome } from '../../kernel/index.ts';

const ORIGINS: readonly Origin[] = ['session', 'console', 'invoke', 'trigger', 'schedule', 'cli', 'channel'];
const OUTCOMES: readonly TurnOutcome['status'][] = ['completed', 'failed', 'interrupted'];

/** What is counted about runs of agents. */
export interface RunMetrics {
  record(origin: Origin, outcome: TurnOutcome['status']): void;
}

/** Counts runs by where they came from and how they ended. */
export function runMetrics(registry: Registry): RunMetrics {
  const runs = new Counter({
    name: 'oryxos_runs_total',
    help: 'Runs of agents that ended.',
    labelNames: ['origin', 'outcome'],
    registers: [registry],
  });
  for (const origin of ORIGINS) for (const outcome of OUTCOMES) runs.inc({ origin, outcome }, 0);
  return { record: (origin, outcome) => runs.inc({ origin, outcome }) };
}
