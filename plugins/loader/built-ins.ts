/** The plugins that OryxOS is made of: loaded in order at the start, changed live where nothing essential builds on them. */
import { isDeepStrictEqual } from 'node:util';
import { type KernelHost, messageOf, OryxError, type Plugin, type PluginStatus } from '../../kernel/index.ts';
import type { Configuration } from './configuration.ts';
import { CORE, disabledNames } from './disabled.ts';

/** What the program, not the configuration, tells plugins, by their names. */
export type Programmed = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

type Section = Readonly<Record<string, unknown>>;

/** Knows with which section each built-in plugin runs. Not for concurrent use. */
export class BuiltIns {
  readonly plugins: readonly Plugin[];
  readonly #programmed: Programmed;
  readonly #kernel: KernelHost;
  /** Sections that are in effect. A plugin that is left out has none. */
  readonly #sections = new Map<string, Section>();
  /** Plugins that could not start with the latest settings and go on with those before. */
  readonly #refused = new Set<string>();
  readonly #warnings = new Map<string, string>();

  /** @param plugins  each after those whose services it needs */
  constructor(kernel: KernelHost, plugins: readonly Plugin[], programmed: Programmed) {
    this.#kernel = kernel;
    this.plugins = plugins;
    this.#programmed = programmed;
  }

  /** Throws what a plugin failed with, and ORYX_CONFIG when what is left out is needed by the core. */
  async start(configuration: Configuration): Promise<void> {
    const left = this.#disabled(configuration);
    for (const plugin of this.plugins) if (!left.has(plugin.name)) await this.#loadOrThrow(plugin, configuration, left);
    await this.#kernel.settled();
    const waiting = this.#kernel.status().find(({ name, state }) => CORE.includes(name) && state !== 'active');
    if (waiting)
      throw new OryxError('ORYX_CONFIG', `oryxos.disable leaves out what "${waiting.name}" needs (${waiting.missing.join(', ')})`);
  }

  /** Puts another configuration into effect as far as that is possible without a restart. Throws ORYX_CONFIG, and nothing has changed. */
  async change(configuration: Configuration): Promise<void> {
    const left = this.#disabled(configuration);
    this.#warnings.clear();
    for (const plugin of this.plugins) {
      if (plugin.name === 'loader') continue;
      const isLoaded = this.#sections.has(plugin.name);
      if (left.has(plugin.name) && isLoaded) await this.#leaveOut(plugin);
      if (!left.has(plugin.name) && !isLoaded) await this.#takeIn(plugin, configuration);
      if (!left.has(plugin.name) && isLoaded) await this.#adapt(plugin, configuration);
    }
    for (const [name, warning] of this.#warnings)
      this.#kernel.log.warn('a setting has changed and is not in effect', { setting: name, warning });
  }

  /** What keeps the present configuration of this plugin from being in effect. */
  warning(name: string): string | undefined {
    return this.#warnings.get(name);
  }

  /** All such, in order. */
  warnings(): readonly string[] {
    return [...this.#warnings.values()];
  }

  /** False for one that the configuration leaves out. */
  isIn(name: string): boolean {
    return this.#sections.has(name);
  }

  /** Starts a failed plugin again. */
  restart(plugin: Plugin, configuration: Configuration): Promise<PluginStatus> {
    return this.#kernel.replace(plugin, this.#configOf(plugin, configuration));
  }

  #disabled(configuration: Configuration): ReadonlySet<string> {
    const value = (key: string): unknown => configuration.values().get(key)?.value;
    return disabledNames(this.plugins, (value('oryxos.disable') ?? []) as readonly string[], value('oryxos.unsafe') === true);
  }

  #configOf(plugin: Plugin, configuration: Configuration): Section {
    return { ...configuration.sectionOf(plugin), ...this.#programmed[plugin.name] };
  }

  async #loadOrThrow(plugin: Plugin, configuration: Configuration, left: ReadonlySet<string>): Promise<void> {
    const section = configuration.sectionOf(plugin);
    const { state, error, missing } = await this.#kernel.load(plugin, this.#configOf(plugin, configuration));
    this.#sections.set(plugin.name, section);
    if (state === 'active' || (state === 'pending' && left.size > 0)) return;
    if (error instanceof OryxError) throw error;
    const reason = error?.message ?? `it waits for ${missing.join(', ')}`;
    throw new OryxError('ORYX_PLUGIN_FAILED', `the built-in plugin ${plugin.name} did not start: ${reason}`, { cause: error });
  }

  async #leaveOut(plugin: Plugin): Promise<void> {
    const reason = this.#restartReason(plugin.name);
    if (reason) return this.#warn(plugin.name, `oryxos.disable: leaving out "${plugin.name}" needs a restart${reason}`);
    await this.#kernel.unload(plugin.name);
    this.#sections.delete(plugin.name);
    this.#kernel.log.info('a built-in plugin is left out from now on', { left: plugin.name });
  }

  async #takeIn(plugin: Plugin, configuration: Configuration): Promise<void> {
    try {
      const { state } = await this.#kernel.load(plugin, this.#configOf(plugin, configuration));
      this.#sections.set(plugin.name, configuration.sectionOf(plugin));
      this.#kernel.log.info('a built-in plugin that was left out has been loaded', { loaded: plugin.name, state });
    } catch (error) {
      this.#warn(plugin.name, `it cannot be taken in again: ${messageOf(error)}`);
    }
  }

  async #adapt(plugin: Plugin, configuration: Configuration): Promise<void> {
    const [old, next] = [this.#sections.get(plugin.name), configuration.sectionOf(plugin)];
    if (isDeepStrictEqual(old, next) && !this.#refused.has(plugin.name)) return;
    const changed = changedProperties(old ?? {}, next);
    const keys = changed.map((property) => keyOf(plugin, property));
    const reason = changed.every((property) => plugin.live?.includes(property)) ? undefined : this.#restartReason(plugin.name);
    if (reason !== undefined) return this.#warn(plugin.name, `${keys.join(', ')}: the change needs a restart${reason}`);
    try {
      const { error } = await this.#kernel.replace(plugin, this.#configOf(plugin, configuration));
      if (error) throw error;
    } catch (error) {
      this.#refused.add(plugin.name);
      return this.#warn(plugin.name, `the change of its settings failed: ${messageOf(error)}`);
    }
    this.#refused.delete(plugin.name);
    this.#sections.set(plugin.name, next);
    this.#kernel.log.info('changed settings are in effect', { changed: plugin.name, keys });
  }

  #warn(name: string, warning: string): void {
    this.#warnings.set(name, warning);
  }

  /** Undefined when the plugin can come and go; else how the sentence about it ends. */
  #restartReason(name: string): string | undefined {
    if (CORE.includes(name)) return '';
    const user = usersOf(name, this.#kernel.status()).find((each) => CORE.includes(each) && each !== 'loader');
    return user === undefined ? undefined : `, because "${user}" builds on it`;
  }
}

/** Names of the plugins that use what this one provides, directly or not. A service shows in the effects of its owner. */
function usersOf(name: string, statuses: readonly PluginStatus[]): readonly string[] {
  const found = new Set([name]);
  for (const provider of found) {
    const { effects } = statuses.find((status) => status.name === provider) ?? { effects: { label: '', children: [] } };
    const services = effects.children.flatMap(({ label }) => (label.startsWith('service ') ? [label.slice('service '.length)] : []));
    for (const user of statuses) if (user.requires.some((service) => services.includes(service))) found.add(user.name);
  }
  return [...found].slice(1);
}

function changedProperties(old: Section, next: Section): readonly string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((key) => !isDeepStrictEqual(old[key], next[key]));
}

/** As it is written in the configuration. */
function keyOf({ configAt }: Plugin, property: string): string {
  if (typeof configAt === 'string') return `${configAt}.${property}`;
  return configAt?.[property] ?? property;
}
