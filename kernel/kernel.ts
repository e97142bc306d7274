/** The plugin host. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Kernel, Logger, Named, Plugin, PluginStatus, ServiceName, Services } from './contract/index.ts';
import { Barrier } from './barrier.ts';
import { ChangeQueue } from './change-queue.ts';
import type { ServiceItem, World } from './context.ts';
import { OryxError } from './errors.ts';
import { Gate } from './gate.ts';
import { HOOKS } from './hook-table.ts';
import { HookSlot } from './hook-slot.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Loaded } from './loaded.ts';
import { type LastResort, LogHub } from './log.ts';
import type { HookRunner, LoopHost } from './loop-host.ts';
import { Registry, type Owner } from './registry.ts';
import { createTurnLoop } from './turn-loop.ts';
import { createTurns } from './turns.ts';

/** The kernel as its creator holds it. */
export interface KernelHost extends Kernel, LoopHost {
  /** The service as it is now; do not keep it. Throws ORYX_SERVICE_MISSING. */
  service<S extends ServiceName>(name: S): Services[S];
  hasService(name: ServiceName): boolean;
  /** Adds a service that lives as long as the kernel. Throws ORYX_SERVICE_TAKEN. */
  provideBuiltIn<S extends ServiceName>(name: S, service: Services[S]): void;
  /** Resolves when every change asked for so far is done, with what follows from it; a setup that takes longer than a second is not waited for. */
  settled(): Promise<void>;
  /** How many taps plugins have on all hooks. */
  tapCount(): number;
}

/** What a kernel is made with. */
export interface KernelOptions {
  readonly clock: Clock;
  /** Services that live as long as the kernel. */
  readonly services?: Partial<Services>;
  /** Gets, at close, the log lines that no sink came for. Default: lines of JSON on standard error. */
  readonly lastResort?: LastResort;
}

/** A kernel without plugins. It provides the services `kernel`, `turnLoop` and `turns`; the last needs a plugin that provides `engine`. */
export function createKernel(options: KernelOptions): KernelHost {
  const host = new Host(options);
  host.provideBuiltIn('turnLoop', createTurnLoop(host));
  host.provideBuiltIn(
    'turns',
    createTurns(host, () => host.service('engine')),
  );
  return host;
}

class Host implements KernelHost {
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks: HookRunner;
  readonly #logs: LogHub;
  readonly #world: World;
  readonly #lifecycle: Lifecycle;
  readonly #self: Owner;
  readonly #barrier: Barrier;
  readonly #registries = new Map<string, Registry<Named>>();
  readonly #queue: ChangeQueue;
  #isSettleQueued = false;
  #closing: Promise<void> | undefined;

  constructor({ clock, services = {}, lastResort }: KernelOptions) {
    this.clock = clock;
    this.#logs = new LogHub(clock, lastResort);
    this.log = this.#logs.logger('kernel');
    this.#self = { name: 'kernel', gate: new Gate(clock) };
    const barrier = (this.#barrier = new Barrier());
    const slots = mapValues(HOOKS, (spec, name) => new HookSlot(name, spec, { barrier, clock, log: this.log }));
    this.hooks = mapValues(slots, ({ call }) => call) as unknown as HookRunner;
    this.#world = {
      clock,
      logs: this.#logs,
      slots,
      services: new Registry<ServiceItem>('service', { taken: 'ORYX_SERVICE_TAKEN', report: this.#report }),
      registry: (point) => this.#registry(point),
      outside: AsyncLocalStorage.snapshot(),
    };
    this.#queue = new ChangeQueue(this.#world);
    this.#lifecycle = new Lifecycle(this.#world, barrier, this.#queue);

    const guard = { owner: this.#self, stage: -Infinity, required: false, run: () => this.#lifecycle.guardRefusal() };
    for (const slot of [slots.beforeToolCall, slots.onClaim]) slot.add(guard);
    const sinks = this.registry('logSink');
    void sinks.onChange(() => this.#logs.useSinks(sinks.list()));
    void this.#world.services.onChange(() => this.#queueSettle());
    this.provideBuiltIn('kernel', this);
    for (const [name, service] of Object.entries(services)) this.provideBuiltIn(name as ServiceName, service);
  }

  registry: KernelHost['registry'] = (point) => this.#registry(point) as never;

  service<S extends ServiceName>(name: S): Services[S] {
    const item = this.#world.services.get(name);
    if (!item) throw new OryxError('ORYX_SERVICE_MISSING', `the service "${name}" is missing: no running plugin provides it`);
    return item.service as Services[S];
  }

  hasService(name: ServiceName): boolean {
    return this.#world.services.get(name) !== undefined;
  }

  provideBuiltIn<S extends ServiceName>(name: S, service: Services[S]): void {
    this.#world.services.add({ item: { name, service }, owner: this.#self })();
  }

  withTrace<T>(traceId: string, fn: () => T): T {
    return this.#logs.withTrace(traceId, fn);
  }

  load(plugin: Plugin, config?: unknown): Promise<PluginStatus> {
    return this.#change(() => this.#lifecycle.load({ plugin, config }));
  }

  replace(plugin: Plugin, config?: unknown): Promise<PluginStatus> {
    return this.#change(() => this.#lifecycle.replace({ plugin, config }));
  }

  unload(name: string): Promise<void> {
    return this.#queue.run(() => this.#lifecycle.unload(name));
  }

  settled(): Promise<void> {
    return this.#queue.run(() => this.#lifecycle.settle());
  }

  status(): readonly PluginStatus[] {
    return this.#lifecycle.status();
  }

  tapCount(): number {
    const sizes = Object.values(this.#world.slots).map(({ size }) => size);
    return sizes.reduce((sum, size) => sum + size, -KERNEL_TAPS);
  }

  close(): Promise<void> {
    if (this.#closing) return this.#closing;
    this.#closing = this.#queue.run(() => this.#lifecycle.stopAll()).finally(() => this.#end());
    this.#lifecycle.end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #change(change: () => Promise<Loaded>): Promise<PluginStatus> {
    if (this.#closing) throw new OryxError('ORYX_STOPPING', 'the host is stopping and takes no more plugins');
    return this.#lifecycle.statusOf(await this.#queue.run(change));
  }

  /** A plugin that is active offered or withdrew a service. */
  #queueSettle(): void {
    if (this.#isSettleQueued) return;
    this.#isSettleQueued = true;
    void this.#queue.run(() => {
      this.#isSettleQueued = false;
      return this.#lifecycle.settle();
    });
  }

  #end(): void {
    this.#logs.close();
    this.#barrier.close();
  }

  #registry(point: string): Registry<Named> {
    let registry = this.#registries.get(point);
    if (!registry) this.#registries.set(point, (registry = new Registry(point, { report: this.#report })));
    return registry;
  }

  readonly #report = (message: string, error: unknown): void => this.log.error(message, { error });
}

/** The guard rule is a tap of two hooks. */
const KERNEL_TAPS = 2;

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, fn: (value: V, key: K) => R): Record<K, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fn(value as V, key as K)])) as Record<K, R>;
}
