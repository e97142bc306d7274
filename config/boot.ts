/** The composition root: builds a host out of plugins, adapters and configuration. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type Clock,
  createKernel,
  definePlugin,
  type KernelHost,
  OryxError,
  type Plugin,
  type ProviderAdapter,
  systemClock,
  toStderr,
} from '../kernel/index.ts';
import { type Configuration, readConfiguration } from '../plugins/loader/configuration.ts';
import { packageVersion, templateRoot } from './package-root.ts';
import { builtInAdapters, builtInPlugins } from './plugins.ts';

/** How long running turns may go on after a stop was asked for. */
const DRAIN_MS = 10_000;

export interface BootOptions {
  /** `serve`: the server. `embedded`: a short-lived host of another command, without watchers, on a port of its own; it leaves unfinished runs alone. */
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
  const configuration = configurationFor(options);
  let failed = false;
  const kernel = createKernel({ clock: options.clock ?? systemClock(), lastResort: (line) => failed || toStderr(line) });
  try {
    for (const plugin of [adaptersPlugin(options.adapters ?? []), ...builtInPlugins, ...(options.plugins ?? [])]) {
      await loadOrThrow(kernel, plugin, { ...configuration.sectionOf(plugin), ...programmed(options)[plugin.name] });
    }
    await kernel.settled();
    if (options.mode === 'serve') await kernel.service('engine').resume();
    const { url } = await kernel.service('http').listen();
    return { kernel, configuration, url, root: kernel.service('workspace').root, close: () => closeHost(kernel) };
  } catch (error) {
    failed = true;
    await kernel.close();
    throw error;
  }
}

function configurationFor({ root: flag, file, cwd, env, flags = {}, plugins = [], mode }: BootOptions): Configuration {
  const all = [...builtInPlugins, ...plugins];
  const forced = { ...flags, ...(mode === 'embedded' && { 'server.port': 0, 'server.host': '127.0.0.1', 'watch.enabled': false }) };
  const rootFlag = flag === undefined ? {} : { 'oryxos.root': resolve(cwd, flag) };
  const first = readConfiguration({
    plugins: all,
    file: file === undefined ? undefined : resolve(cwd, file),
    env,
    flags: { ...forced, ...rootFlag },
  });
  const root = resolve(cwd, first.values().get('oryxos.root')?.value as string);
  const own = join(root, 'application.yml');
  const used = file === undefined ? (existsSync(own) ? own : undefined) : resolve(cwd, file);
  return readConfiguration({ plugins: all, file: used, env, flags: { ...forced, 'oryxos.root': root } });
}

/** The `oryxos.root` that a configuration file names; undefined when it names none. Throws ORYX_CONFIG for a file that is not valid. */
export function configuredRoot(file: string, env: BootOptions['env']): string | undefined {
  const root = readConfiguration({ plugins: builtInPlugins, file, env, flags: {} }).values().get('oryxos.root');
  return root?.origin.startsWith('file') ? (root.value as string) : undefined;
}

/** What the program, not the configuration, tells a plugin. */
function programmed({ mode, env }: BootOptions): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return {
    workspace: { template: templateRoot },
    secrets: { masterKey: env['ORYXOS_MASTER_KEY'] ?? '' },
    engine: { failpoint: env['ORYXOS_FAILPOINT'] ?? '' },
    system: { version: packageVersion, kind: mode },
  };
}

function adaptersPlugin(replacements: readonly ProviderAdapter[]): Plugin {
  const names = new Set(replacements.map(({ name }) => name));
  return definePlugin({
    name: 'adapters',
    setup(ctx) {
      for (const adapter of [...builtInAdapters.filter(({ name }) => !names.has(name)), ...replacements])
        ctx.register('providerAdapter', adapter);
    },
  });
}

async function loadOrThrow(kernel: KernelHost, plugin: Plugin, config: unknown): Promise<void> {
  const status = await kernel.load(plugin, config);
  if (status.state === 'active') return;
  const { error } = status;
  if (error instanceof OryxError) throw error;
  const reason = error?.message ?? `it waits for ${status.missing.join(', ')}`;
  throw new OryxError('ORYX_PLUGIN_FAILED', `the built-in plugin ${plugin.name} did not start: ${reason}`, { cause: error });
}

async function closeHost(kernel: KernelHost): Promise<void> {
  if (kernel.hasService('engine')) await kernel.service('engine').drain(DRAIN_MS);
  await kernel.close();
}
