/** Builds a host out of the configuration, and follows the configuration while the host runs. */
import { type KernelHost, messageOf, notFound, conflict, type Plugin, type PluginStatus } from '../../kernel/index.ts';
import { BuiltIns, type Programmed } from './built-ins.ts';
import type { Configuration } from './configuration.ts';
import type { ConfigurationSource } from './configuration-source.ts';
import type { PluginView } from './contract.ts';
import type { Places } from './discover.ts';
import { registerResolveHook } from './import-plugin.ts';
import { Strays } from './strays.ts';
import { ThirdParties, type PluginSections } from './third-parties.ts';
import type { PluginSection, ThirdParty } from './third-party.ts';

/** How long a configuration file must be away or empty before its settings are taken back. */
const GONE_MS = 500;

/** What a host is made of. */
export interface LoaderOptions {
  /** Built-in plugins, each after those whose services it needs; `loader` is among them. */
  readonly plugins: readonly Plugin[];
  readonly programmed: Programmed;
  readonly source: ConfigurationSource;
  readonly places: Places;
  /** URLs of the running host's modules by what plugins import. */
  readonly hostModules: Readonly<Record<string, string>>;
}

/** Loads everything, and keeps it as the configuration says. It lives as long as the kernel, longer than the plugin `loader` that serves it. */
export class Loader {
  readonly kernel: KernelHost;
  readonly source: ConfigurationSource;
  readonly pluginsDirectory: string;
  readonly #options: LoaderOptions;
  readonly #builtIns: BuiltIns;
  readonly #thirdParties: ThirdParties;
  readonly #strays: Strays;
  readonly #listeners = new Set<() => void>();
  #configuration: Configuration;
  #fileProblem: string | undefined;
  #fileText: string | undefined;
  #changing: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** Throws ORYX_CONFIG for a configuration that is not valid. */
  constructor(kernel: KernelHost, options: LoaderOptions) {
    const { plugins, programmed, source, places } = options;
    this.kernel = kernel;
    this.source = source;
    this.pluginsDirectory = places.pluginsDirectory;
    this.#options = options;
    this.#fileText = source.text();
    this.#configuration = source.read();
    this.#strays = new Strays((name, error) => this.#thirdParties.get(name)?.fail(error));
    this.#builtIns = new BuiltIns(kernel, plugins, programmed);
    const isBuiltIn = (name: string): boolean => plugins.some((plugin) => plugin.name === name);
    this.#thirdParties = new ThirdParties({ kernel, places, strays: this.#strays, isBuiltIn }, () => this.#changed());
  }

  /** The configuration that is in effect. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Loads the built-in plugins, then those that the configuration names. Throws for a built-in one that fails, never for another one. */
  async start(): Promise<void> {
    await this.#builtIns.start(this.#configuration);
    const sections = sectionsOf(this.#configuration);
    this.#prepare(sections);
    await this.#thirdParties.start(sections);
  }

  /** Reads the configuration again and puts it into effect; one that is not valid changes nothing and is reported. Never rejects. */
  reread(): Promise<void> {
    this.#changing = this.#changing.then(() => this.#reread());
    return this.#changing;
  }

  /** Loads a plugin again. Rejects with ORYX_NOT_FOUND, and with ORYX_CONFLICT for a built-in one that has not failed. */
  async retry(name: string): Promise<PluginView> {
    const entry = this.#thirdParties.get(name);
    if (entry !== undefined) await entry.load(entry.section, { fresh: true });
    else await this.#restart(name);
    this.#changed();
    return this.views().find((view) => view.name === name) ?? missing(name);
  }

  /** All plugins, built-in ones first. */
  views(): readonly PluginView[] {
    const statuses = this.kernel.status();
    const builtIn = this.#options.plugins
      .filter(({ name }) => this.#builtIns.isIn(name))
      .flatMap(({ name }) => {
        const status = statuses.find((each) => each.name === name);
        return status === undefined ? [] : [this.#builtInView(status)];
      });
    return [...builtIn, ...this.#thirdParties.list().map((entry) => entry.view(statuses))];
  }

  /** What of the configuration file is not in effect. */
  problems(): readonly string[] {
    return [...(this.#fileProblem === undefined ? [] : [this.#fileProblem]), ...this.#builtIns.warnings()];
  }

  /** The plugins whose files are to be followed. */
  watched(): readonly ThirdParty[] {
    return this.#thirdParties.list().filter(({ isWatched }) => isWatched);
  }

  /** Calls `fn` whenever `watched` may have changed; the result ends that. */
  onChange(fn: () => void): () => void {
    this.#listeners.add(fn);
    return () => void this.#listeners.delete(fn);
  }

  /** Changes nothing any more, and closes the kernel with all plugins. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const plugin of this.#thirdParties.list()) plugin.stop();
    await this.kernel.close();
    this.#strays.close();
  }

  async #reread(): Promise<void> {
    const text = await this.#settledText();
    if (this.#isClosed || text === this.#fileText) return;
    this.#fileText = text;
    try {
      const next = this.source.read(text);
      await this.#builtIns.change(next);
      this.#configuration = next;
      this.#fileProblem = undefined;
      const sections = sectionsOf(next);
      this.#prepare(sections);
      this.#thirdParties.change(sections);
    } catch (error) {
      this.#fileProblem = messageOf(error);
      this.kernel.log.error('the configuration was edited and is not valid; the one before it goes on', { error });
    }
    this.#changed();
  }

  /** Some editors take a file away, or empty it, before they write the new one; it counts as gone, or as empty, only when it stays so. */
  async #settledText(): Promise<string | undefined> {
    const text = this.source.text();
    if (text?.trim() || !this.#fileText?.trim()) return text;
    await new Promise<void>((resolve) => void this.kernel.clock.after(GONE_MS, resolve));
    return this.source.text();
  }

  /** The resolve hook costs every import a message to another thread, so it comes with the first plugin. */
  #prepare(sections: PluginSections): void {
    if (Object.keys(sections).length > 0) registerResolveHook(this.#options.hostModules);
  }

  async #restart(name: string): Promise<void> {
    const plugin = this.#options.plugins.find((each) => each.name === name);
    const state = this.kernel.status().find((each) => each.name === name)?.state;
    if (plugin === undefined || state === undefined) missing(name);
    if (state !== 'failed') throw conflict(`the built-in plugin "${name}" is ${state}; only a failed one can be tried again`);
    await this.#builtIns.restart(plugin, this.#configuration);
  }

  #builtInView({ name, state, requires, missing, error, effects, generation }: PluginStatus): PluginView {
    const warning = this.#builtIns.warning(name);
    const problem = name === 'loader' ? this.#fileProblem : undefined;
    return {
      name,
      version: this.#options.places.hostVersion,
      source: 'builtin',
      state: state === 'active' || state === 'failed' ? state : 'pending',
      requires,
      missing,
      error: problem ?? error?.message ?? null,
      effects: effects.children.map(({ label }) => label),
      generation,
      warnings: warning === undefined ? [] : [warning],
      trust: null,
    };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

declare module '../../kernel/index.ts' {
  interface Services {
    /** The machine behind the service `plugins`. Provided by whoever starts the host. */
    loader: Loader;
  }
}

function sectionsOf(configuration: Configuration): PluginSections {
  const sections = (configuration.values().get('oryxos.plugins')?.value ?? {}) as Readonly<Record<string, PluginSection | null>>;
  return Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, section ?? {}]));
}

function missing(name: string): never {
  throw notFound(`there is no plugin "${name}"; "oryxos plugin list" shows all`);
}
