import type { Metric } from '../metrics/contract.ts';

/** Counts switches from one provider to another, for monitoring. */
export interface SwitchCount {
  readonly metric: Metric;
  /** Makes the pair visible before its first switch. */
  know(from: string, to: string): void;
  add(from: string, to: string): void;
}

/** Starts at 0. */
export function switchCount(): SwitchCount {
  const counts = new Map<string, { readonly from: string; readonly to: string; count: number }>();
  const entry = (from: string, to: string) => {
    const key = `${from}\n${to}`;
    const found = counts.get(key) ?? { from, to, count: 0 };
    counts.set(key, found);
    return found;
  };
  return {
    know: (from, to) => void entry(from, to),
    add(from, to) {
      entry(from, to).count += 1;
    },
    metric: {
      name: 'oryxos_fallback_switches_total',
      kind: 'counter',
      help: 'Switches of a model call from a provider that failed to the next one.',
      labels: ['from', 'to'],
      values: () => Array.from(counts.values(), ({ from, to, count }) => ({ labels: { from, to }, value: count })),
    },
  };
}
