/** The items of one extension point. */
import type { Disposer, Named, ReadonlyRegistry } from './contract/index.ts';
import type { Gate } from './gate.ts';
import { OryxError, type ErrorCode } from './errors.ts';

/** Who an item belongs to: one run of a plugin. */
export interface Owner {
  readonly name: string;
  readonly gate: Gate;
}

/** An item and whose it is. The entry keeps its place while `swap` exchanges the item. */
export interface Entry<T extends Named> {
  item: T;
  readonly owner: Owner;
}

/** Tells the listeners of a change that has been made already. */
export type Announce = () => void;

type Listener<T> = (change: 'added' | 'removed', item: T) => void;

/** `taken` is the code of the error for a name in use; default ORYX_NAME_TAKEN. */
export interface RegistryOptions {
  readonly taken?: ErrorCode;
  /** Told when a listener throws; the others are still called. */
  report(message: string, error: unknown): void;
}

/**
 * Named items, each with one owner; nothing is ever overwritten. Changing and announcing are apart, so that several lists can change
 * before anybody hears of it.
 */
export class Registry<T extends Named> implements ReadonlyRegistry<T> {
  readonly point: string;
  readonly #options: RegistryOptions;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #listeners = new Set<Listener<T>>();
  #version = 0;
  #list: readonly T[] | undefined;

  constructor(point: string, options: RegistryOptions) {
    this.point = point;
    this.#options = options;
  }

  get version(): number {
    return this.#version;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.item;
  }

  /** The same array until the next change. */
  list(): readonly T[] {
    return (this.#list ??= Object.freeze(Array.from(this.#entries.values(), ({ item }) => item)));
  }

  entry(name: string): Readonly<Entry<T>> | undefined {
    return this.#entries.get(name);
  }

  ownerOf(name: string): string | undefined {
    return this.#entries.get(name)?.owner.name;
  }

  async use<R>(name: string, label: string, fn: (item: T) => R | Promise<R>): Promise<R | undefined> {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    const leave = entry.owner.gate.enter(label);
    try {
      return await fn(entry.item);
    } finally {
      leave();
    }
  }

  onChange(fn: Listener<T>): Disposer {
    const listener: Listener<T> = (change, item) => fn(change, item);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Throws ORYX_NAME_TAKEN when the name belongs to somebody who is not leaving. */
  check(name: string, newcomer: string, leaving: ReadonlySet<Owner>): void {
    const holder = this.#entries.get(name)?.owner;
    if (holder && !leaving.has(holder)) throw this.taken(name, newcomer, holder.name);
  }

  taken(name: string, newcomer: string, holder: string): OryxError {
    const advice = `plugin "${newcomer}" cannot have it too, so rename one of the two`;
    return new OryxError(this.#options.taken ?? 'ORYX_NAME_TAKEN', `${this.point} "${name}" belongs to plugin "${holder}"; ${advice}`);
  }

  /** Throws ORYX_NAME_TAKEN. */
  add(entry: Entry<T>): Announce {
    const { item, owner } = entry;
    this.check(item.name, owner.name, NOBODY);
    this.#entries.set(item.name, entry);
    this.#changed();
    return () => this.#announce('added', item);
  }

  remove(entry: Entry<T>): Announce {
    const { item } = entry;
    if (this.#entries.get(item.name) !== entry) return () => undefined;
    this.#entries.delete(item.name);
    this.#changed();
    return () => this.#announce('removed', item);
  }

  /** Puts `item` in the place of the entry's present one, which has the same name. */
  swap(entry: Entry<T>, item: T): Announce {
    const old = entry.item;
    entry.item = item;
    this.#changed();
    return () => {
      this.#announce('removed', old);
      this.#announce('added', item);
    };
  }

  #changed(): void {
    this.#version += 1;
    this.#list = undefined;
  }

  #announce(change: 'added' | 'removed', item: T): void {
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener(change, item);
      } catch (error) {
        this.#options.report(`a listener of the extension point "${this.point}" failed on ${change} "${item.name}"`, error);
      }
    }
  }
}

const NOBODY: ReadonlySet<Owner> = new Set();
