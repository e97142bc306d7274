/** Numbers about messages for monitoring. */
import type { NotifyAdapter, ReadonlyRegistry, Store } from '../../kernel/index.ts';
import type { Metric } from '../metrics/contract.ts';
import { type OutboxEnding, waitingCount } from './outbox-repository.ts';
import type { AttemptResult } from './verdict.ts';

const OUTCOMES: readonly OutboxEnding['state'][] = ['delivered', 'failed', 'unknown'];
const RESULTS: readonly AttemptResult[] = ['delivered', 'refused', 'later', 'unknown'];
/** Type of a channel that is gone. */
const NO_TYPE = 'unknown';

/** Counts since the start of the plugin. */
export interface OutboxMetrics {
  readonly metrics: readonly Metric[];
  attempted(result: AttemptResult): void;
  /** @param type  of the channel, undefined when it is gone */
  ended(type: string | undefined, outcome: OutboxEnding['state']): void;
}

/** Known types of channels have a series from the start. */
export function outboxMetrics(store: Store, adapters: ReadonlyRegistry<NotifyAdapter>): OutboxMetrics {
  const attempts = new Map<AttemptResult, number>(RESULTS.map((result) => [result, 0]));
  const messages = new Map<string, Map<OutboxEnding['state'], number>>();
  const ofType = (type: string): Map<OutboxEnding['state'], number> => {
    const counts = messages.get(type) ?? new Map(OUTCOMES.map((outcome) => [outcome, 0]));
    messages.set(type, counts);
    return counts;
  };
  return {
    attempted: (result) => void attempts.set(result, (attempts.get(result) ?? 0) + 1),
    ended(type = NO_TYPE, outcome) {
      const counts = ofType(type);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    },
    metrics: [
      {
        name: 'oryxos_notify_messages_total',
        kind: 'counter',
        help: 'Messages to notify channels that ended.',
        labels: ['type', 'outcome'],
        values() {
          for (const { name } of adapters.list()) ofType(name);
          return [...messages].flatMap(([type, counts]) => [...counts].map(([outcome, value]) => ({ labels: { type, outcome }, value })));
        },
      },
      {
        name: 'oryxos_notify_attempts_total',
        kind: 'counter',
        help: 'Requests to notify channels.',
        labels: ['outcome'],
        values: () => [...attempts].map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      {
        name: 'oryxos_notify_outbox_pending',
        kind: 'gauge',
        help: 'Messages to notify channels that wait or are being sent.',
        labels: [],
        values: async () => [{ labels: {}, value: await waitingCount(store) }],
      },
    ],
  };
}
