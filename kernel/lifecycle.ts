/** The life of all plugins: which are loaded, which run, and why not. Not for concurrent use: the host runs one change after another. */
import type { Plugin, PluginState, PluginStatus, Refusal } from './contract/index.ts';
import type { Barrier } from './barrier.ts';
import type { Run, World } from './context.ts';
import { OryxError, toError } from './errors.ts';
import { NOBODY, activate, dependentsOf, isFresh, missingServices, serviceFinder, type FindService, type Loaded } from './loaded.ts';
import type { Owner } from './registry.ts';
import { refuse } from './result.ts';
import { closeRun, stage } from './run.ts';
import { swap } from './swap.ts';

/**
 * Loads, replaces and unloads plugins, and keeps running exactly those whose services exist. A plugin that fails is a state with an error,
 * not a rejection.
 */
export class Lifecycle {
  readonly world: World;
  readonly barrier: Barrier;
  readonly #loaded = new Map<string, Loaded>();
  readonly #generations = new Map<string, number>();
  readonly #find: FindService;
  #cancelSetup: (reason: Error) => void = () => undefined;
  #isEnding = false;

  constructor(world: World, barrier: Barrier) {
    this.world = world;
    this.barrier = barrier;
    this.#find = serviceFinder(world.services);
  }

  /** Throws ORYX_PLUGIN_LOADED. */
  async load(plugin: Plugin, config: unknown): Promise<PluginStatus> {
    const { name } = plugin;
    if (this.#loaded.has(name))
      throw new OryxError('ORYX_PLUGIN_LOADED', `a plugin named "${name}" is loaded already; replace or unload it`);
    return this.#begin(plugin, config);
  }

  async replace(plugin: Plugin, config: unknown): Promise<PluginStatus> {
    const loaded = this.#loaded.get(plugin.name);
    if (!loaded?.run) return this.#begin(plugin, config);
    try {
      const closeOld = await swap(this, loaded, loaded.run, plugin, config);
      Object.assign(loaded, { plugin, config, generation: this.#nextGeneration(plugin.name) });
      await closeOld();
    } catch (error) {
      loaded.error = toError(error);
      this.#log('a plugin could not be replaced and goes on as it was', { failed: plugin.name, error });
    }
    await this.settle();
    return this.#statusOf(loaded);
  }

  async unload(name: string): Promise<void> {
    const loaded = this.#loaded.get(name);
    if (!loaded) return;
    await this.#stop(loaded, 'stopping');
    this.#loaded.delete(name);
    await this.settle();
  }

  /** Starts what can start and stops what lost a service, until nothing changes. */
  async settle(): Promise<void> {
    for (let isChanged = true; isChanged && !this.#isEnding; ) {
      isChanged = false;
      for (const loaded of this.#loaded.values()) {
        if (loaded.run && !isFresh(loaded.run, this.#find)) await this.#stop(loaded, 'pending');
        else if (loaded.state === 'pending' && missingServices(loaded.plugin, this.#find).length === 0) await this.#start(loaded);
        else continue;
        isChanged = true;
      }
    }
  }

  /** From now on nothing starts; a setup under way fails. May be called while a change is under way. */
  end(): void {
    this.#isEnding = true;
    this.#cancelSetup(stopping());
  }

  /** Stops everything, last loaded first. Guards stay in the list until the end, so that nothing runs unguarded meanwhile. */
  async stopAll(): Promise<void> {
    for (const loaded of this.running()) await this.#stop(loaded, 'stopping');
    this.#loaded.clear();
  }

  status(): readonly PluginStatus[] {
    return Array.from(this.#loaded.values(), (loaded) => this.#statusOf(loaded));
  }

  /** The refusal of a guard that should be running and is not. */
  guardRefusal(): Refusal | undefined {
    for (const { plugin, state } of this.#loaded.values()) {
      if (plugin.guard && state !== 'active')
        return refuse(plugin.name, `the guard "${plugin.name}" is ${state}; no tool runs until it is active`);
    }
    return undefined;
  }

  /** Running plugins, last loaded first. */
  running(): readonly Loaded[] {
    return [...this.#loaded.values()].filter(({ run }) => run !== undefined).toReversed();
  }

  /** Sets a plugin up where nobody sees it; rejects with ORYX_STOPPING once the end has begun. */
  async stage(plugin: Plugin, config: unknown, find: FindService, leaving: ReadonlySet<Owner>): Promise<Run> {
    if (this.#isEnding) throw stopping();
    const services = Object.freeze(Object.fromEntries(plugin.requires.map((name) => [name, find(name)])));
    return stage(this.world, { plugin, config, services, leaving }, (cancel) => {
      this.#cancelSetup = cancel;
    });
  }

  async #begin(plugin: Plugin, config: unknown): Promise<PluginStatus> {
    const loaded: Loaded = { plugin, config, generation: this.#nextGeneration(plugin.name), state: 'pending' };
    this.#loaded.set(plugin.name, loaded);
    await this.settle();
    return this.#statusOf(loaded);
  }

  async #start(loaded: Loaded): Promise<void> {
    loaded.state = 'starting';
    try {
      const run = await this.stage(loaded.plugin, loaded.config, this.#find, NOBODY);
      try {
        await this.barrier.during(() => this.#show(loaded, run));
      } finally {
        if (loaded.run !== run) await closeRun(this.world, run);
      }
    } catch (error) {
      loaded.state = 'failed';
      loaded.error = toError(error);
      this.#log('a plugin failed to start', { failed: loaded.plugin.name, error });
    }
  }

  /** Shows a staged run, unless a service that it was set up with has gone meanwhile: then it is pending again. Throws ORYX_NAME_TAKEN. */
  #show(loaded: Loaded, run: Run): void {
    loaded.state = 'pending';
    if (!isFresh(run, this.#find)) return;
    run.showcase.check(NOBODY);
    const announcements = run.showcase.publish();
    activate(loaded, run);
    for (const announce of announcements) announce();
  }

  /** Stops what uses its services, last loaded first, and then itself. */
  async #stop(loaded: Loaded, next: PluginState): Promise<void> {
    const users = dependentsOf(loaded.run?.provides.keys() ?? [], this.running());
    for (const user of users.toReversed()) await this.#stopAlone(user, 'pending');
    await this.#stopAlone(loaded, next);
  }

  async #stopAlone(loaded: Loaded, next: PluginState): Promise<void> {
    const { run } = loaded;
    if (!run) return;
    loaded.state = 'stopping';
    await this.barrier.during(() => {
      for (const announce of run.showcase.withdraw()) announce();
    });
    await closeRun(this.world, run);
    delete loaded.run;
    loaded.state = next;
  }

  #nextGeneration(name: string): number {
    const generation = (this.#generations.get(name) ?? 0) + 1;
    this.#generations.set(name, generation);
    return generation;
  }

  #statusOf({ plugin, state, error, run, generation }: Loaded): PluginStatus {
    const { name, version, requires } = plugin;
    const effects = run?.scope.inspect() ?? { label: name, children: [] };
    const missing = missingServices(plugin, this.#find);
    return { name, state, requires, missing, effects, generation, ...(version !== undefined && { version }), ...(error && { error }) };
  }

  #log(message: string, fields: { readonly failed: string; readonly error: unknown }): void {
    this.world.logs.logger('kernel').error(message, fields);
  }
}

function stopping(): OryxError {
  return new OryxError('ORYX_STOPPING', 'the host is stopping and starts nothing more');
}
