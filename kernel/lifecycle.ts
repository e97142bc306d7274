/** The life of all plugins: which are loaded, which run, and why not. Not for concurrent use: the host runs one change after another. */
import type { PluginState, PluginStatus, Refusal } from './contract/index.ts';
import type { Barrier } from './barrier.ts';
import type { ChangeQueue } from './change-queue.ts';
import type { Run, World } from './context.ts';
import { OryxError, toError } from './errors.ts';
import { changeConfig, isLiveChange } from './live-config.ts';
import type { Candidate, FindService, Loaded } from './loaded.ts';
import { NOBODY, activate, dependentsOf, isFresh, missingServices, serviceFinder } from './loaded.ts';
import type { Owner } from './registry.ts';
import { refuse } from './result.ts';
import { checkedConfig, closeRun, stage } from './run.ts';
import { swap } from './swap.ts';

/**
 * Loads, replaces and unloads plugins, and keeps running exactly those whose services exist. A plugin that fails is a state with an error,
 * not a rejection.
 */
export class Lifecycle {
  readonly world: World;
  readonly barrier: Barrier;
  readonly #queue: ChangeQueue;
  readonly #loaded = new Map<string, Loaded>();
  readonly #generations = new Map<string, number>();
  readonly #find: FindService;
  readonly #setups = new Set<AbortController>();
  #isEnding = false;

  constructor(world: World, barrier: Barrier, queue: ChangeQueue) {
    this.world = world;
    this.barrier = barrier;
    this.#queue = queue;
    this.#find = serviceFinder(world.services);
  }

  /** Throws ORYX_PLUGIN_LOADED. */
  async load(next: Candidate): Promise<Loaded> {
    const { name } = next.plugin;
    if (this.#loaded.has(name))
      throw new OryxError('ORYX_PLUGIN_LOADED', `a plugin named "${name}" is loaded already; replace or unload it`);
    const loaded: Loaded = { ...next, generation: this.#nextGeneration(name), state: 'pending' };
    this.#loaded.set(name, loaded);
    await this.settle();
    return loaded;
  }

  async replace(next: Candidate): Promise<Loaded> {
    const { name } = next.plugin;
    const loaded = this.#loaded.get(name);
    if (!loaded) return this.load(next);
    await this.#giveUp(loaded, 'changed again');
    if (!loaded.run) {
      delete loaded.error;
      Object.assign(loaded, next, { generation: this.#nextGeneration(name), state: 'pending' });
    } else if (!(await this.#adapt(loaded, loaded.run, next))) await this.#exchange(loaded, loaded.run, next);
    await this.settle();
    return loaded;
  }

  async unload(name: string): Promise<void> {
    const loaded = this.#loaded.get(name);
    if (!loaded) return;
    await this.#giveUp(loaded, 'unloaded');
    await this.#stop(loaded, 'stopping');
    this.#loaded.delete(name);
    await this.settle();
  }

  /** Starts what can start and stops what lost a service, until nothing changes. */
  async settle(): Promise<void> {
    for (let isChanged = true; isChanged && !this.#isEnding; ) {
      isChanged = false;
      for (const loaded of this.#loaded.values()) {
        const canStart = loaded.state === 'pending' && !loaded.setup && missingServices(loaded.plugin, this.#find).length === 0;
        if (loaded.run && !isFresh(loaded.run, this.#find)) await this.#stop(loaded, 'pending');
        else if (canStart) await this.#start(loaded);
        else continue;
        isChanged = true;
      }
    }
  }

  /** From now on nothing starts; a setup under way fails. May be called while a change is under way. */
  end(): void {
    this.#isEnding = true;
    for (const setup of this.#setups) setup.abort(stopping());
  }

  /** Stops everything, last loaded first. Guards stay in the list until the end, so that nothing runs unguarded meanwhile. */
  async stopAll(): Promise<void> {
    for (const loaded of this.#loaded.values()) await this.#giveUp(loaded, 'unloaded');
    for (const loaded of this.running()) await this.#stop(loaded, 'stopping');
    this.#loaded.clear();
  }

  status(): readonly PluginStatus[] {
    return Array.from(this.#loaded.values(), (loaded) => this.statusOf(loaded));
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

  /** Sets a plugin up where nobody sees it; rejects with ORYX_SERVICE_MISSING, and with ORYX_STOPPING once the end has begun. */
  async stage({ plugin, config }: Candidate, find: FindService, leaving: ReadonlySet<Owner>, cancel = new AbortController()): Promise<Run> {
    if (this.#isEnding) throw stopping();
    const missing = missingServices(plugin, find);
    if (missing.length > 0) throw new OryxError('ORYX_SERVICE_MISSING', `plugin "${plugin.name}" requires ${missing.join(', ')}`);
    const services = Object.freeze(Object.fromEntries(plugin.requires.map((name) => [name, find(name)])));
    this.#setups.add(cancel);
    const run = stage(this.world, { plugin, config, services, leaving, cancelled: cancel.signal });
    return run.finally(() => this.#setups.delete(cancel));
  }

  async #start(loaded: Loaded): Promise<void> {
    loaded.state = 'starting';
    await this.#setUp(loaded, loaded, NOBODY, async (run) => {
      await this.barrier.during(() => this.#show(loaded, run)).finally(() => (loaded.run === run ? undefined : closeRun(this.world, run)));
    });
  }

  /** Puts a new run in the place of the old one, or leaves the old one alone. */
  #exchange(loaded: Loaded, old: Run, next: Candidate): Promise<void> {
    const leaving = new Set([old.owner]);
    return this.#setUp(loaded, next, leaving, async (run) => {
      // A service may have changed while the setup took its time.
      if (loaded.run !== old || !isFresh(run, serviceFinder(this.world.services, leaving))) {
        await closeRun(this.world, run);
        await this.replace(next);
        return;
      }
      const closeOld = await swap(this, loaded, old, run, leaving);
      Object.assign(loaded, next, { generation: this.#nextGeneration(next.plugin.name) });
      await closeOld();
    });
  }

  /** Gives a plugin that runs its new settings. False when it is another one, or does not take all of them while it runs. */
  async #adapt(loaded: Loaded, { config: present }: Run, { plugin, config }: Candidate): Promise<boolean> {
    if (plugin !== loaded.plugin || !plugin.live) return false;
    try {
      const next = checkedConfig(plugin, config);
      if (!isLiveChange(plugin, present.current, next)) return false;
      await changeConfig(present, next, this.world.clock);
      loaded.config = config;
      delete loaded.error;
    } catch (error) {
      this.#failed(loaded, error);
    }
    return true;
  }

  /** Has a run set up and used, in this change or, when the setup takes its time, in a later one; unless it is given up before that. */
  #setUp(loaded: Loaded, next: Candidate, leaving: ReadonlySet<Owner>, use: (run: Run) => Promise<void>): Promise<void> {
    const cancel = new AbortController();
    const run = this.stage(next, serviceFinder(this.world.services, leaving), leaving, cancel);
    const setup = (loaded.setup = { run, cancel });
    return this.#queue.after(run, async (isLate) => {
      if (loaded.setup !== setup) return;
      delete loaded.setup;
      await run.then(use).catch((error: unknown) => this.#failed(loaded, error));
      if (isLate) await this.settle();
    });
  }

  /** Ends a setup under way and undoes what it did. `why` says what happened to the plugin. */
  async #giveUp(loaded: Loaded, why: string): Promise<void> {
    const { setup, plugin } = loaded;
    if (!setup) return;
    delete loaded.setup;
    const error = new OryxError('ORYX_PLUGIN_FAILED', `plugin "${plugin.name}" was ${why} while it was being set up`);
    setup.cancel.abort(error);
    const run = await setup.run.catch(() => undefined);
    if (run) await closeRun(this.world, run);
    if (!loaded.run) Object.assign(loaded, { state: 'failed', error });
  }

  #failed(loaded: Loaded, error: unknown): void {
    const isNew = loaded.state === 'starting';
    if (isNew) loaded.state = 'failed';
    loaded.error = toError(error);
    const message = isNew ? 'a plugin failed to start' : 'a plugin could not be replaced and goes on as it was';
    this.world.logs.logger('kernel').error(message, { failed: loaded.plugin.name, error });
  }

  /** Shows a staged run, unless a service that it was set up with has gone meanwhile: then it is pending again. Throws ORYX_NAME_TAKEN. */
  #show(loaded: Loaded, run: Run): void {
    if (!isFresh(run, this.#find)) {
      loaded.state = 'pending';
      return;
    }
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

  /** As it is now, also when it has been unloaded. */
  statusOf({ plugin, state, error, run, generation }: Loaded): PluginStatus {
    const { name, version, requires } = plugin;
    const effects = run?.scope.inspect() ?? { label: name, children: [] };
    const missing = missingServices(plugin, this.#find);
    return { name, state, requires, missing, effects, generation, ...(version !== undefined && { version }), ...(error && { error }) };
  }
}

function stopping(): OryxError {
  return new OryxError('ORYX_STOPPING', 'the host is stopping and starts nothing more');
}
