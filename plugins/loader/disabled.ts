/** Which built-in plugins the configuration leaves out, and which it cannot. */
import { OryxError, type Plugin } from '../../kernel/index.ts';

/** They hold the workspace, the port and the runs; they change with a restart only. */
export const CORE: readonly string[] = ['workspace', 'secrets', 'store', 'logging', 'http', 'engine', 'loader'];

/** Nothing runs unguarded or unaudited by mistake. */
const GUARDS: readonly string[] = ['sandbox', 'policy', 'audit'];

/** Whether leaving it out needs `oryxos.unsafe: true`. */
export const isGuard = ({ name, guard }: Pick<Plugin, 'name' | 'guard'>): boolean => guard === true || GUARDS.includes(name);

/**
 * The names in `oryxos.disable`.
 *
 * @throws ORYX_CONFIG for a name that no built-in plugin has, for one that the server cannot do without, and for a guard without `oryxos.unsafe`
 */
export function disabledNames(plugins: readonly Plugin[], names: readonly string[], isUnsafe: boolean): ReadonlySet<string> {
  for (const name of names) {
    const plugin = plugins.find((known) => known.name === name);
    if (plugin === undefined) {
      const known = plugins.map((each) => each.name).filter((each) => !CORE.includes(each));
      throw new OryxError('ORYX_CONFIG', `oryxos.disable: there is no built-in plugin "${name}" (known: ${known.join(', ')})`);
    }
    if (CORE.includes(name)) throw new OryxError('ORYX_CONFIG', `oryxos.disable: the server cannot do without "${name}"`);
    if (isGuard(plugin) && !isUnsafe)
      throw new OryxError(
        'ORYX_CONFIG',
        `oryxos.disable: "${name}" guards what agents do; it is left out only together with oryxos.unsafe: true`,
      );
  }
  return new Set(names);
}
