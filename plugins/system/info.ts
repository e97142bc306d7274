/** What `/api/v1/info` says: who the server is, and what its operator should know. */
import type { Provider, ReadonlyRegistry } from '../../kernel/index.ts';
import type { HttpServer } from '../http/contract.ts';
import type { Plugins } from '../loader/contract.ts';
import type { Outside } from '../outside/contract.ts';

/** The answer of `/api/v1/info`. */
export interface InfoView {
  readonly application: 'oryxos';
  readonly version: string;
  /** Names of the registered providers, sorted; they are not asked whether they work. */
  readonly providers: readonly string[];
  readonly warnings: readonly string[];
}

/** Where the information comes from. */
export interface InfoSources {
  readonly version: string;
  readonly providers: ReadonlyRegistry<Provider>;
  readonly http: HttpServer;
  readonly plugins: Pick<Plugins, 'list'>;
  readonly outside: Outside;
}

/** The present state; a plugin's own error text may hold anything and is not repeated here. */
export function infoView({ version, providers, http, plugins, outside }: InfoSources): InfoView {
  const { warning } = outside.processes.isolation;
  const failed = plugins.list().filter(({ state }) => state === 'failed');
  return {
    application: 'oryxos',
    version,
    providers: providers
      .list()
      .map(({ name }) => name)
      .sort(),
    warnings: [
      ...http.warnings,
      ...(warning === undefined ? [] : [warning]),
      ...failed.map(({ name }) => `The plugin "${name}" has failed; "oryxos plugin list" says why.`),
    ],
  };
}
