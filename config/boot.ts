/** The composition root: builds a host out of plugins, adapters and configuration. */
import { join } from 'node:path';
import { type Clock, createKernel, type KernelHost, type Plugin, type ProviderAdapter, systemClock, toStderr } from '../kernel/index.ts';
import { readConfiguration, type Configuration } from '../plugins/loader/configuration.ts';
import { configurationSource } from '../plugins/loader/configuration-source.ts';
import { Loader } from '../plugins/loader/loader.ts';
import { hostModules, packageRoot, packageVersion, templateRoot } from './package-root.ts';
import { adapterPlugins, builtInPlugins } from './plugins.ts';

/** How long running turns may go on after a stop was asked for. */
const DRAIN_MS = 10_000;

/** What a host is started with. */
export interface BootOptions {
  /** `serve`: the server. `embedded`: a short-lived host of another command, without watchers and schedules, on a port of its own; it leaves unfinished runs alone. */
  readonly mode: 'serve' | 'embedded';
  /** Workspace root as the command line gave it. */
  readonly root?: string | undefined;
  /** Configuration file as the command line gave it; else `<root>/application.yml` when it exists. */
  readonly file?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Further values by key path; they win over file and environment. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  /** Adapters that take the place of built-in ones of the same name, and others. */
  readonly adapters?: readonly ProviderAdapter[];
  /** Loaded after the built-in plugins. */
  readonly plugins?: readonly Plugin[];
}

/** A host that runs. */
export interface Host {
  readonly kernel: KernelHost;
  /** As it is now; edits of the file change it. */
  readonly configuration: Configuration;
  readonly root: string;
  readonly url: string;
  /** Lets running turns finish for up to 10 s, suspends the others, and undoes everything. */
  close(): Promise<void>;
}

/**
 * Starts a host.
 *
 * Log lines that no sink has seen when the start fails are dropped: the error that is thrown says it all.
 *
 * @throws OryxError for a configuration that is not valid, a workspace in use, a port in use, and for a built-in plugin that fails
 */
export async function boot(options: BootOptions): Promise<Host> {
  let failed = false;
  const kernel = createKernel({ clock: options.clock ?? systemClock(), lastResort: (line) => failed || toStderr(line) });
  const loader = loaderFor(kernel, options);
  kernel.provideBuiltIn('loader', loader);
  try {
    await loader.start();
    if (options.mode === 'serve') await kernel.service('engine').resume();
    const { url } = await kernel.service('http').listen();
    const { root } = kernel.service('workspace');
    return {
      kernel,
      url,
      root,
      close: () => closeHost(kernel, loader),
      get configuration() {
        return loader.configuration;
      },
    };
  } catch (error) {
    failed = true;
    await loader.close();
    throw error;
  }
}

/** The `oryxos.root` that a configuration file names; undefined when it names none. Throws ORYX_CONFIG for a file that is not valid. */
export function configuredRoot(file: string, env: BootOptions['env']): string | undefined {
  const root = readConfiguration({ plugins: builtInPlugins, file, env, flags: {} }).values().get('oryxos.root');
  return root?.origin.startsWith('file') ? (root.value as string) : undefined;
}

function loaderFor(kernel: KernelHost, { mode, root, file, cwd, env, flags, adapters = [], plugins: more = [] }: BootOptions): Loader {
  const plugins = [...adapterPlugins(adapters), ...builtInPlugins, ...more];
  const embedded = { 'server.port': 0, 'server.host': '127.0.0.1', 'watch.enabled': false, 'schedules.enabled': false };
  const source = configurationSource({ plugins, root, file, cwd, env, flags: { ...flags, ...(mode === 'embedded' && embedded) } });
  const places = { pluginsDirectory: join(source.root, 'plugins'), hostDirectory: packageRoot, hostVersion: packageVersion };
  return new Loader(kernel, { plugins, programmed: programmed(mode, env), source, places, hostModules });
}

/** What the program, not the configuration, tells a plugin. */
function programmed(mode: BootOptions['mode'], env: BootOptions['env']): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return {
    workspace: { template: templateRoot },
    secrets: { masterKey: env['ORYXOS_MASTER_KEY'] ?? '' },
    engine: { failpoint: env['ORYXOS_FAILPOINT'] ?? '' },
    system: { version: packageVersion, kind: mode },
    executions: { recovers: mode === 'serve' },
    notify: { delivers: mode === 'serve' },
    channels: { recovers: mode === 'serve' },
    openapi: { version: packageVersion },
    backup: { version: packageVersion },
  };
}

async function closeHost(kernel: KernelHost, loader: Loader): Promise<void> {
  if (kernel.hasService('engine')) await kernel.service('engine').drain(DRAIN_MS);
  await loader.close();
}
