/** The code of one plugin: where it lies, which of it is in memory, how often it was imported. */
import { pathToFileURL } from 'node:url';
import { type KernelHost, OryxError, type Plugin } from '../../kernel/index.ts';
import { entryOf, findPackages, type FoundPackage, type Places } from './discover.ts';
import { importPlugin } from './import-plugin.ts';
import { packageHash } from './package-hash.ts';
import type { Strays } from './strays.ts';
import { shadowedOnes } from './third-party-view.ts';

/** From this many generations on, the memory that they keep is worth a warning. */
const MANY_GENERATIONS = 50;

/** What importing needs. */
export interface SourceParts {
  readonly kernel: Pick<KernelHost, 'clock' | 'log'>;
  readonly places: Places;
  readonly strays: Strays;
}

/** Not for concurrent use. */
export class PluginSource {
  readonly #name: string;
  readonly #parts: SourceParts;
  #found: readonly FoundPackage[] = [];
  #inMemory: { readonly hash: string; readonly plugin: Plugin } | undefined;
  #triedHash = '';
  #imports = 0;

  constructor(name: string, parts: SourceParts) {
    this.#name = name;
    this.#parts = parts;
  }

  /** Packages of its name, the one that is used first. */
  get found(): readonly FoundPackage[] {
    return this.#found;
  }

  /** What was imported last; undefined while nothing was. */
  get plugin(): Plugin | undefined {
    return this.#inMemory?.plugin;
  }

  /** What its operator should know of it. */
  get warnings(): readonly string[] {
    const many = `its code has been imported ${this.#imports} times; old code stays in memory until the next restart`;
    return [...shadowedOnes(this.#found), ...(this.#imports < MANY_GENERATIONS ? [] : [many])];
  }

  /** Whether what lies on the disk is not what was tried last. False while there is nothing. */
  async hasChanged(): Promise<boolean> {
    const found = this.#found[0] ?? (await findPackages(this.#name, this.#parts.places).catch(() => []))[0];
    return found !== undefined && (await packageHash(found.directory)) !== this.#triedHash;
  }

  /**
   * The plugin as it lies on the disk. What is in memory already is not imported again, unless it is to be `fresh`.
   * Rejects with ORYX_PLUGIN_CONFIG or ORYX_PLUGIN_FAILED, or with the reason of `signal`.
   */
  async load(signal: AbortSignal, fresh: boolean): Promise<Plugin> {
    const { places, strays, kernel } = this.#parts;
    await this.#find();
    const [found] = this.#found;
    if (found === undefined) {
      const where = 'in plugins/ of the workspace nor in plugins/node_modules nor beside oryxos';
      throw new OryxError('ORYX_PLUGIN_FAILED', `plugin "${this.#name}" cannot be loaded: it is neither ${where}`);
    }
    const { directory } = found;
    const hash = (this.#triedHash = await packageHash(directory));
    const entry = await entryOf(this.#name, found, places.hostVersion);
    if (!fresh && this.#inMemory?.hash === hash) return this.#inMemory.plugin;
    this.#count();
    strays.knows(this.#name, pathToFileURL(directory).href);
    const code = { name: this.#name, directory, entry, generation: `${hash}-${this.#imports}` };
    const plugin = await strays.inside(this.#name, () => importPlugin(code, kernel.clock, signal));
    this.#inMemory = { hash, plugin };
    return plugin;
  }

  async #find(): Promise<void> {
    const known = shadowedOnes(this.#found);
    this.#found = await findPackages(this.#name, this.#parts.places);
    for (const warning of shadowedOnes(this.#found))
      if (!known.includes(warning)) this.#parts.kernel.log.warn(warning, { plugin: this.#name });
  }

  #count(): void {
    this.#imports += 1;
    if (this.#imports % MANY_GENERATIONS !== 0) return;
    this.#parts.kernel.log.warn('the code of a plugin has been imported many times; old code stays in memory until the next restart', {
      plugin: this.#name,
      times: this.#imports,
    });
  }
}
