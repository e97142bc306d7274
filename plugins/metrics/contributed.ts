import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { Metric, MetricValue } from './contract.ts';

const MAX_WAIT_MS = 2_000;

/** What publishing needs besides the metric. */
export interface Publishing {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Shows the metric of a plugin until the returned function is called. A metric that cannot be read is logged and left out of that answer.
 * Throws for a name that is shown already and for names that Prometheus does not allow.
 */
export function publish(metric: Metric, { registry, clock, log }: Publishing): () => void {
  const { name, help } = metric;
  const common = { name, help, labelNames: [...metric.labels], registers: [registry] };
  const read = async (shown: { reset(): void }, show: (value: MetricValue) => void): Promise<void> => {
    try {
      const values = await soon(clock, async () => metric.values());
      shown.reset();
      for (const value of values) show(value);
    } catch (error) {
      shown.reset();
      log.warn('a metric cannot be read', { metric: name, error });
    }
  };
  const create = {
    counter() {
      const counter: Counter = new Counter({
        ...common,
        collect: () => read(counter, ({ labels, value }) => counter.inc({ ...labels }, value)),
      });
    },
    gauge() {
      const gauge: Gauge = new Gauge({ ...common, collect: () => read(gauge, ({ labels, value }) => gauge.set({ ...labels }, value)) });
    },
  };
  create[metric.kind]();
  return () => registry.removeSingleMetric(name);
}

async function soon<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(MAX_WAIT_MS, () => reject(new Error(`not there after ${MAX_WAIT_MS} ms`)));
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    cancel();
  }
}
