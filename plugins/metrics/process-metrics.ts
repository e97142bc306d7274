import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

const RESOLUTION_MS = 20;
const MICROS = 1e6;
const NANOS = 1e9;

/**
 * Shows how the process does: CPU, memory, age, and how late the event loop is since somebody last looked. Release it with the returned
 * function.
 *
 * @param now  epoch milliseconds
 */
export function processMetrics(registry: Registry, now: number): () => void {
  const started = new Gauge({ name: 'process_start_time_seconds', help: 'Start of the process, in seconds since 1970.', registers: [] });
  started.set(Math.round(now / 1000 - process.uptime()));
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, its own and that of the system for it.',
    registers: [],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROS);
    },
  });
  const resident = gaugeOf('process_resident_memory_bytes', 'Memory that the process holds.', () => process.memoryUsage.rss());
  const heap = gaugeOf('nodejs_heap_used_bytes', 'Memory that JavaScript objects use.', () => process.memoryUsage().heapUsed);
  for (const metric of [started, cpu, resident, heap]) registry.registerMetric(metric);
  return eventLoopLag(registry);
}

function gaugeOf(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}

function eventLoopLag(registry: Registry): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  // What is measured is the time between two ticks: an idle loop shows the resolution itself.
  const seconds = (nanos: number): number => Math.max(0, nanos / NANOS - RESOLUTION_MS / 1000);
  const lag = new Gauge({
    name: 'oryxos_event_loop_lag_seconds',
    help: 'How late the event loop is, since it was last looked at; quantile 1 is the worst.',
    labelNames: ['quantile'],
    registers: [],
    collect() {
      this.set({ quantile: '0.5' }, seconds(delays.percentile(50)));
      this.set({ quantile: '0.99' }, seconds(delays.percentile(99)));
      this.set({ quantile: '1' }, seconds(delays.max));
      delays.reset();
    },
  });
  registry.registerMetric(lag);
  delays.enable();
  return () => void delays.disable();
}
