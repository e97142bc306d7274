/** Every key that the configuration may have, from what plugins declare. */
import type { JsonSchema, Plugin } from '../../kernel/index.ts';
import { canonical } from './key-path.ts';

/** One key, the schema of its value, and where the value goes. */
export interface KeyEntry {
  /** Canonical, e.g. "server.allowed-hosts". */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly plugin: string;
  readonly property: string;
}

/**
 * Collects the keys of all plugins. Properties without a key path are set by the program, not by the configuration.
 *
 * @throws Error when two plugins claim the same key for different schemas: a mistake of the program
 */
export function keyTable(plugins: readonly Plugin[]): readonly KeyEntry[] {
  return plugins.flatMap((plugin) => {
    const properties = (plugin.config?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
    return Object.entries(properties).flatMap(([property, schema]) => {
      const path = pathOf(plugin, property);
      return path === undefined ? [] : [{ path, schema, plugin: plugin.name, property }];
    });
  });
}

function pathOf({ configAt }: Plugin, property: string): string | undefined {
  if (configAt === undefined) return undefined;
  const path = typeof configAt === 'string' ? `${configAt}.${property}` : configAt[property];
  return path?.split('.').map(canonical).join('.');
}
