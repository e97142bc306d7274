/** One plugin that the configuration names: found, imported, loaded, and loaded again when its code or its section changes. */
import { isOryxError, type KernelHost, messageOf, OryxError, type Plugin, type PluginStatus, toError } from '../../kernel/index.ts';
import type { PluginView } from './contract.ts';
import type { FoundPackage } from './discover.ts';
import { fitted } from './fit.ts';
import { LEFTOVERS, notingLeftovers } from './leftovers.ts';
import { PluginSource, type SourceParts } from './plugin-source.ts';
import { thirdPartyView } from './third-party-view.ts';

/** The section of a plugin in the configuration. */
export interface PluginSection {
  /** Follow its files. Default: for a directory yes, for an installed package no. */
  readonly watch?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** What plugins are loaded with. */
export interface ThirdPartyParts extends SourceParts {
  readonly kernel: KernelHost;
  /** Whether a plugin name is one of the built-in ones. */
  readonly isBuiltIn: (name: string) => boolean;
}

/** How a load is to go about it. */
export interface LoadOptions {
  /** Import the code again even if it has not changed. */
  readonly fresh?: boolean;
  /** Awaited between import and load. */
  readonly turn?: Promise<unknown>;
}

type AnyContext = Parameters<Plugin['setup']>[0];

/** All changes of one plugin, one after another. A later change cuts short the import of an earlier one. */
export class ThirdParty {
  readonly name: string;
  readonly #parts: ThirdPartyParts;
  readonly #source: PluginSource;
  #section: PluginSection;
  /** Name of the plugin that the kernel holds for this entry. */
  #loaded: string | undefined;
  #watched: { readonly plugin: Plugin; readonly watched: Plugin } | undefined;
  #error: Error | undefined;
  #isBusy = false;
  #isGone = false;
  #leftOpen = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #supersede = new AbortController();

  constructor(name: string, section: PluginSection, parts: ThirdPartyParts) {
    this.name = name;
    this.#section = section;
    this.#parts = parts;
    this.#source = new PluginSource(name, parts);
  }

  get section(): PluginSection {
    return this.#section;
  }

  /** Where it lies; undefined while it has not been found. */
  get package(): FoundPackage | undefined {
    return this.#source.found[0];
  }

  /** Whether its files are to be followed; those of a plugin that is missing are, so that it is noticed when it comes. */
  get isWatched(): boolean {
    return this.#section.watch ?? this.package?.source !== 'package';
  }

  /** Loads it, or what has changed of it. Never rejects: what goes wrong is in the view, and in the log. */
  load(section: PluginSection = this.#section, options: LoadOptions = {}): Promise<void> {
    this.#section = section;
    return this.#next((signal) => this.#load(signal, options));
  }

  /** Loads it again if its code is not what was tried last. */
  async look(): Promise<void> {
    if (!this.#isGone && (await this.#source.hasChanged())) await this.load();
  }

  /** Unloads it for good. */
  remove(): Promise<void> {
    this.#isGone = true;
    return this.#next(() => this.#unload());
  }

  /** Does nothing any more, because the host is stopping. */
  stop(): void {
    this.#isGone = true;
  }

  /** Unloads it because of what it did; it counts as failed until it is loaded again. */
  fail(error: unknown): void {
    const message = `plugin "${this.name}" failed outside of any call and was unloaded: ${messageOf(error)}`;
    this.#failed(new OryxError('ORYX_PLUGIN_FAILED', message, { cause: error }));
    void this.#next(() => this.#unload());
  }

  /** @param statuses  what the kernel says of all plugins */
  view(statuses: readonly PluginStatus[]): PluginView {
    const status = statuses.find(({ name }) => name === this.#loaded);
    return thirdPartyView({
      name: this.name,
      found: this.#source.found,
      requires: this.#source.plugin?.requires ?? [],
      status,
      error: this.#error,
      isBusy: this.#isBusy,
      warnings: this.#warnings(),
      hidden: LEFTOVERS,
    });
  }

  #warnings(): readonly string[] {
    const open = `it left ${this.#leftOpen} timers or handles open when it closed; they last until the next restart`;
    return [...this.#source.warnings, ...(this.#leftOpen === 0 ? [] : [open])];
  }

  #next(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#supersede.abort(new OryxError('ORYX_PLUGIN_FAILED', `plugin "${this.name}" changed while it was being imported`));
    const { signal } = (this.#supersede = new AbortController());
    const done = this.#queue.then(async () => {
      this.#isBusy = true;
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted && !isStopping(error)) this.#failed(toError(error));
      } finally {
        this.#isBusy = false;
      }
    });
    this.#queue = done;
    return done.then(() => this.#idle());
  }

  /** Resolves when nothing is left to do: who was cut short waits for the change that did it. */
  async #idle(): Promise<void> {
    let seen: unknown;
    while (seen !== this.#queue) {
      seen = this.#queue;
      await seen;
    }
  }

  async #load(signal: AbortSignal, { fresh = false, turn }: LoadOptions): Promise<void> {
    const { kernel, isBuiltIn } = this.#parts;
    if (this.#isGone) return;
    if (isBuiltIn(this.name)) throw this.#problem(`"${this.name}" is the name of a built-in plugin`);
    const plugin = await this.#source.load(signal, fresh || this.#error !== undefined);
    await turn;
    this.#checkName(plugin.name);
    const config = fitted(this.#section.config ?? {}, plugin.config ?? {});
    const old = this.#loaded;
    if (old !== undefined && old !== plugin.name) await this.#unload();
    signal.throwIfAborted();
    const watched = this.#watchedOf(plugin);
    const change = this.#loaded === undefined ? kernel.load(watched, config) : kernel.replace(watched, config);
    this.#loaded = plugin.name;
    change.catch(() => (this.#loaded = undefined));
    // A later change does not wait for a setup that hangs: the kernel gives it up.
    const status = await Promise.race([change, aborted(signal)]);
    this.#error = status.error;
    if (!status.error) kernel.log.info('a plugin is loaded', { loaded: this.name, version: this.package?.version, state: status.state });
  }

  #checkName(name: string): void {
    const { kernel, isBuiltIn } = this.#parts;
    if (isBuiltIn(name)) throw this.#problem(`it calls itself "${name}", which is the name of a built-in plugin`);
    if (name !== this.#loaded && kernel.status().some((status) => status.name === name))
      throw this.#problem(`it calls itself "${name}", and so does a plugin that is loaded already`);
  }

  /** The plugin with an eye on its setup; one for each import, since the kernel tells by the object whether the code is the same. */
  #watchedOf(plugin: Plugin): Plugin {
    if (this.#watched?.plugin !== plugin) this.#watched = { plugin, watched: { ...plugin, setup: this.#setupOf(plugin) } };
    return this.#watched.watched;
  }

  #setupOf(plugin: Plugin): Plugin['setup'] {
    const setup = (ctx: AnyContext): void | Promise<void> => this.#parts.strays.inside(this.name, () => plugin.setup(ctx));
    return (ctx) => notingLeftovers(ctx, setup, (open) => this.#reportOpen(open));
  }

  #reportOpen(open: readonly string[]): void {
    this.#leftOpen += open.length;
    this.#parts.kernel.log.warn('a plugin has closed and left something open: it should say how to close it with ctx.own', {
      plugin: this.name,
      open,
    });
  }

  async #unload(): Promise<void> {
    if (this.#loaded === undefined) return;
    const name = this.#loaded;
    this.#loaded = undefined;
    await this.#parts.kernel.unload(name);
  }

  #failed(error: Error): void {
    this.#error = error;
    const message = this.#loaded === undefined ? 'a plugin failed to load' : 'a plugin could not be loaded anew and goes on as it was';
    this.#parts.kernel.log.error(message, { failed: this.name, error });
  }

  #problem(message: string): OryxError {
    return new OryxError('ORYX_PLUGIN_FAILED', `plugin "${this.name}" cannot be loaded: ${message}`);
  }
}

/** Rejects with the reason of the signal when that aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
}

/** What cannot be loaded because the host is stopping is not at fault. */
const isStopping = (error: unknown): boolean => isOryxError(error) && error.code === 'ORYX_STOPPING';
