/** Mirrors a registry into child scopes. */
import type { Named, ReadonlyRegistry } from './contract/index.ts';
import type { Scope } from './scope.ts';
import { isOryxError } from './errors.ts';

/** What is mirrored, where to, and who hears of failures. */
export interface Mirror<T extends Named> {
  readonly registry: ReadonlyRegistry<T>;
  /** Parent of the child scopes. */
  readonly scope: Scope;
  readonly label: (item: T) => string;
  /** Called once per item; what it does in `child` is undone when the item leaves. */
  readonly enter: (item: T, child: Scope) => void | Promise<void>;
  /** Told of every failure; a failing `enter` loses its child scope. */
  readonly report: (message: string, error: unknown) => void;
}

/**
 * Calls `enter` for the items that are there, now and synchronously, and for those that come. An item that follows another of the
 * same name waits until the old one's child scope has closed. Returns what ends the watch; the child scopes end with `scope`.
 */
export function forEach<T extends Named>({ registry, scope, label, enter, report }: Mirror<T>): () => void {
  const children = new Map<T, Scope>();
  const closing = new Map<string, Promise<void>>();
  let stopped = false;

  const fail = (item: T, child: Scope, error: unknown): void => {
    if (child.isClosed && isOryxError(error) && error.code === 'ORYX_SCOPE_CLOSED') return;
    report(`forEach failed on ${label(item)}`, error);
    close(item, child);
  };
  const start = (item: T): void => {
    if (stopped || scope.isClosed || children.has(item) || registry.get(item.name) !== item) return;
    const child = scope.child(label(item));
    children.set(item, child);
    try {
      enter(item, child)?.catch((error: unknown) => fail(item, child, error));
    } catch (error) {
      fail(item, child, error);
    }
  };
  const close = (item: T, child: Scope): void => {
    const done = child
      .close()
      .catch((error: unknown) => report(`closing ${label(item)} failed`, error))
      .then(() => void (closing.get(item.name) === done && closing.delete(item.name)));
    closing.set(item.name, done);
  };
  const add = (item: T): void => {
    const before = closing.get(item.name);
    if (before) void before.then(() => start(item));
    else start(item);
  };
  const remove = (item: T): void => {
    const child = children.get(item);
    children.delete(item);
    if (child) close(item, child);
  };

  const unlisten = registry.onChange((change, item) => (change === 'added' ? add(item) : remove(item)));
  for (const item of registry.list()) add(item);
  return () => {
    stopped = true;
    void unlisten();
  };
}
