import { Counter, type Registry } from 'prom-client';
import type { PluginStatus } from '../../kernel/index.ts';

/** What is counted about things that change while the server runs. */
export interface ReloadMetrics {
  agentReloaded(): void;
}

/** @param plugins  all plugins as they are now; looked at whenever somebody looks at the metrics */
export function reloadMetrics(registry: Registry, plugins: () => readonly Pick<PluginStatus, 'name' | 'generation'>[]): ReloadMetrics {
  const seen = new Map<string, number>();
  const newReloads = (): number =>
    plugins().reduce((sum, { name, generation }) => {
      const before = seen.get(name);
      seen.set(name, generation);
      if (before === undefined) return sum + generation - 1;
      // One that was unloaded and loaded again starts over.
      return sum + (generation < before ? generation : generation - before);
    }, 0);
  const reloads = new Counter({
    name: 'oryxos_reloads_total',
    help: 'Agents and plugins that were replaced by a newer version while the server ran.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.inc({ kind: 'plugin' }, newReloads());
    },
  });
  reloads.inc({ kind: 'agent' }, 0);
  return { agentReloaded: () => reloads.inc({ kind: 'agent' }) };
}
