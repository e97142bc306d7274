/** Builds what a plugin's `setup` receives. */
import type { Clock, Context, Disposer, HookName, Named, Registration, ServiceName } from './contract/index.ts';
import type { Exhibit, Showcase } from './showcase.ts';
import type { HookSlot, Tap } from './hook-slot.ts';
import type { LogHub } from './log.ts';
import type { LiveConfig } from './live-config.ts';
import type { Announce, Entry, Owner, Registry } from './registry.ts';
import type { Scope } from './scope.ts';
import { OryxError } from './errors.ts';
import { forEach } from './for-each.ts';

/** A service as an item: services are a registry too. */
export interface ServiceItem extends Named {
  readonly service: unknown;
}

/** The parts of the host that plugins act on. */
export interface World {
  readonly clock: Clock;
  readonly logs: LogHub;
  readonly services: Registry<ServiceItem>;
  readonly slots: Readonly<Record<HookName, HookSlot>>;
  registry(point: string): Registry<Named>;
  /** Calls `fn` outside of every turn and admitted call. */
  outside<T>(fn: () => T): T;
}

/** One life of a plugin, from setup to the last undo. */
export interface Run {
  readonly owner: Owner;
  readonly scope: Scope;
  readonly showcase: Showcase;
  readonly config: LiveConfig;
  readonly services: Readonly<Record<string, unknown>>;
  /** Services it offers, also while nobody can see them yet. */
  readonly provides: Map<string, unknown>;
}

type AnyContext = Context<unknown, ServiceName>;

const silent = (): void => undefined;

/**
 * A context over a scope of the run. What is registered, tapped or provided during setup becomes visible when setup has succeeded, all at
 * once; afterwards at once. `registry(point)` shows the live items. A `forEach` begun in setup starts when the plugin has become visible.
 */
export function createContext(world: World, run: Run, scope: Scope = run.scope, name: string = run.owner.name): AnyContext {
  const { owner, showcase } = run;
  const log = world.logs.logger(name);

  const exhibit = (holder: Scope, label: string, thing: Exhibit, undone: () => void = silent): Disposer => {
    if (holder.isClosed) throw new OryxError('ORYX_SCOPE_CLOSED', `"${holder.label}" is closed and cannot take "${label}"`);
    const hide = showcase.add(thing);
    return holder.own(label, () => {
      hide();
      undone();
    });
  };

  const enlist = <T extends Named>(registry: Registry<T>, item: T, undone?: () => void): Registration<T> => {
    const entry: Entry<T> = { item, owner };
    let isIn = true;
    const undo = exhibit(scope, `${registry.point} ${item.name}`, inRegistry(registry, entry), () => {
      isIn = false;
      undone?.();
    });
    const replace = (next: T): void => {
      const problem = `${registry.point} "${item.name}" of plugin "${owner.name}" cannot be replaced`;
      if (next.name !== item.name) throw new OryxError('ORYX_NAME_CHANGED', `${problem} by one named "${next.name}"`);
      if (!isIn || showcase.phase === 'withdrawn') throw new OryxError('ORYX_SCOPE_CLOSED', `${problem}: it has been taken out`);
      if (showcase.phase === 'live') registry.swap(entry, next)();
      else entry.item = next;
    };
    return Object.assign(undo, { replace });
  };

  return {
    name,
    get config() {
      return run.config.current;
    },
    onConfig: (fn) => {
      run.config.listeners.add(fn);
      return scope.own('listener for settings', () => void run.config.listeners.delete(fn));
    },
    services: run.services as AnyContext['services'],
    log,
    clock: world.clock,
    signal: scope.signal,
    own: (label, undo) => scope.own(label, undo),
    fork: (label) => {
      const child = scope.child(label);
      return Object.assign(createContext(world, run, child, `${name}/${label}`), { [Symbol.asyncDispose]: () => child.close() });
    },
    register: (point, item) => enlist(world.registry(point) as unknown as Registry<typeof item>, item),
    registry: (point) => world.registry(point) as never,
    forEach: (point, fn) => {
      const registry = world.registry(point);
      const children = scope.child(`forEach ${point}`);
      const enter = (item: Named, child: Scope): void | Promise<void> =>
        world.outside(() => fn(item as never, createContext(world, run, child, `${name}/${item.name}`)));
      const report = (message: string, error: unknown): void => log.error(message, { error });
      let stop = silent;
      const show = (): Announce => () => {
        stop = forEach({ registry, scope: children, label: (item) => `${point} ${item.name}`, enter, report });
      };
      exhibit(children, 'watch', { show, hide: () => () => stop() });
      return () => children.close();
    },
    tap: (hook, fn, { stage = 0, required = false } = {}) => {
      const tap: Tap = { owner, stage, required, run: fn as Tap['run'] };
      return exhibit(scope, `tap ${hook}`, inSlot(world.slots[hook], tap));
    },
    provide: (name, service) => {
      const undo = enlist(world.services, { name, service }, () => void run.provides.delete(name));
      run.provides.set(name, service);
      return undo;
    },
  };
}

function inRegistry<T extends Named>(registry: Registry<T>, entry: Entry<T>): Exhibit {
  const { item, owner } = entry;
  return {
    unique: { key: `${registry.point} ${item.name}`, clash: () => registry.taken(item.name, owner.name, owner.name) },
    check: (leaving) => registry.check(item.name, owner.name, leaving),
    show: () => registry.add(entry),
    hide: () => registry.remove(entry),
  };
}

function inSlot(slot: HookSlot, tap: Tap): Exhibit {
  return {
    show: () => {
      slot.add(tap);
      return silent;
    },
    hide: () => {
      slot.remove(tap);
      return silent;
    },
  };
}
