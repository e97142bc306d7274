/** What a plugin is and the four verbs it has: register, tap, provide, own. */
import type { Channel } from './channel.ts';
import type { Engine, Profiles, History } from './engine.ts';
import type { Hooks, HookName } from './hooks.ts';
import type { NotifyAdapter } from './notify.ts';
import type { JsonSchema } from '../schema.ts';
import type { Profile, TurnLoop, Turns, PromptPart } from './turn.ts';
import type { Provider, ProviderAdapter } from './provider.ts';
import type { Store } from './store.ts';
import type { Tool } from './tool.ts';

/** Undoes one effect. Calling it again does nothing. */
export type Disposer = () => void | Promise<void>;

/** Order among taps of one hook; lower runs first, default 0. */
export type Stage = number;

/** Anything that can stand in a registry. */
export interface Named {
  readonly name: string;
}

/** What `register` returns: call it to take the item out, or swap the item for a newer one of the same name. */
export interface Registration<T extends Named> {
  (): void | Promise<void>;
  /** Puts `item` in the old one's place; no reader sees a moment without either. Throws ORYX_NAME_CHANGED for another name. */
  replace(item: T): void;
}

/** A view of one extension point. */
export interface ReadonlyRegistry<T extends Named> {
  /** The item of that exact name: no trimming, no case folding. */
  get(name: string): T | undefined;
  /** All items in order of registration. */
  list(): readonly T[];
  /** The name of the plugin that registered it. */
  ownerOf(name: string): string | undefined;
  /**
   * Runs `fn` on the item while its plugin is held in place: the plugin is not closed before `fn` has settled (or 10 s have passed).
   * Resolves with undefined when there is no such item; rejects as `fn` does.
   *
   * @param label  names the call in the warning about a plugin that cannot close
   */
  use<R>(name: string, label: string, fn: (item: T) => R | Promise<R>): Promise<R | undefined>;
  /** Grows with every change: a cheap key for caches. */
  readonly version: number;
  /** Calls `fn` after each change; a swap is announced as `removed` and `added`, when the new item is already in place. */
  onChange(fn: (change: 'added' | 'removed', item: T) => void): Disposer;
}

/** Structured log lines. `message` is a constant sentence; what varies goes into `fields`. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** What varies from line to line, by name. Errors may be given as they are; a sink masks secrets and makes the rest printable. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line on its way to a sink. `plugin` and, during a turn, `traceId` are filled in by the kernel. */
export interface LogLine {
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly plugin: string;
  readonly message: string;
  readonly traceId?: string;
  readonly fields: LogFields;
}

/** Receives every log line. Must not throw; lines that come before the first sink are kept for it. */
export interface LogSink extends Named {
  write(line: LogLine): void;
}

/** The one source of time. Tests inject their own. */
export interface Clock {
  /** Wall clock in epoch milliseconds. */
  now(): number;
  /** Milliseconds that never go backwards; only differences mean something. */
  monotonic(): number;
  /** Calls `fn` once after `delayMs` unless disposed first. Does not keep the process alive. */
  after(delayMs: number, fn: () => void): () => void;
}

/** Extension points and what they hold. Plugins add points by declaration merging on the kernel's index module. */
export interface Extensions {
  tool: Tool;
  profile: Profile;
  provider: Provider;
  providerAdapter: ProviderAdapter;
  notifyAdapter: NotifyAdapter;
  channel: Channel;
  promptPart: PromptPart;
  logSink: LogSink;
}

/** The name of an extension point. */
export type Point = keyof Extensions & string;

/** Services and their types. Plugins add services by declaration merging on the kernel's index module. */
export interface Services {
  /** Provided by the kernel itself. */
  kernel: Kernel;
  turns: Turns;
  turnLoop: TurnLoop;
  /** Provided by plugins. */
  engine: Engine;
  store: Store;
  profiles: Profiles;
  history: History;
}

/** The name of a service. */
export type ServiceName = keyof Services & string;

/**
 * What `setup` receives. Every verb returns its undo, and all are undone, last first, when the plugin closes.
 *
 * What setup registers, taps and provides becomes visible when setup has succeeded, all at once; until then `registry` does not show it,
 * and a `forEach` does not run. Later calls take effect at once. Once the plugin is stopping they throw ORYX_SCOPE_CLOSED.
 */
export interface Context<C = unknown, R extends ServiceName = never> {
  /** The plugin's name; a child is "plugin/child". */
  readonly name: string;
  /** Validated, defaults filled in, frozen. Settings that the plugin declares as `live` change while it runs: read them here when you need them. */
  readonly config: C;
  /** Exactly what `requires` names. */
  readonly services: Readonly<Pick<Services, R>>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when closing begins. */
  readonly signal: AbortSignal;
  /** Takes responsibility for an effect: `undo` runs at close, or when the returned disposer is called. */
  own(label: string, undo: Disposer): Disposer;
  /** A child scope with the same verbs; closing it undoes only what it holds. */
  fork(label: string): Context<C, R> & AsyncDisposable;
  /** Adds an item to an extension point. Throws ORYX_NAME_TAKEN. */
  register<P extends Point>(point: P, item: Extensions[P]): Registration<Extensions[P]>;
  registry<P extends Point>(point: P): ReadonlyRegistry<Extensions[P]>;
  /** Runs `fn` for every item, now and later; what it does in `child` ends when the item leaves. */
  forEach<P extends Point>(point: P, fn: (item: Extensions[P], child: Context<C, R>) => void | Promise<void>): Disposer;
  /** Adds a tap. `required` (collect hooks only) makes a throwing tap fail the step instead of being skipped. */
  tap<H extends HookName>(hook: H, fn: Hooks[H], options?: { readonly stage?: Stage; readonly required?: boolean }): Disposer;
  /** Calls `fn` after each change of live settings. When it throws, or takes more than 5 s, the settings before come back, and `fn` is called again. */
  onConfig(fn: (config: C) => void | Promise<void>): Disposer;
  /** Offers a service. Throws ORYX_SERVICE_TAKEN. */
  provide<S extends ServiceName>(name: S, service: Services[S]): Disposer;
}

/** What the kernel holds; the author's generics are erased here. */
export interface Plugin {
  readonly name: string;
  readonly version?: string;
  /** The plugin runs exactly while all of these exist. */
  readonly requires: readonly ServiceName[];
  /** Where its configuration stands: the key path of its section ("shell"), or a key path for each property (`{ port: 'server.port' }`). */
  readonly configAt?: string | Readonly<Record<string, string>>;
  readonly config?: JsonSchema;
  /** Properties of `config` that it takes while it runs. A change of others sets it up anew. */
  readonly live?: readonly string[];
  /** While it is loaded but not active, tool calls are refused. */
  readonly guard?: boolean;
  /** At most 30 s, else ORYX_SETUP_TIMEOUT. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the kernel holds plugins of every configuration and service set
  setup(ctx: Context<any, any>): void | Promise<void>;
}

/**
 * Where a plugin is in its life. `pending`: a required service is missing. `failed`: its setup failed, and only `replace` or `unload`
 * changes that.
 */
export type PluginState = 'pending' | 'starting' | 'active' | 'stopping' | 'failed';

/** What a plugin holds, as a tree of labels. */
export interface EffectTree {
  readonly label: string;
  readonly children: readonly EffectTree[];
}

/** A plugin as `status` shows it. `missing` names the required services that do not exist. */
export interface PluginStatus {
  readonly name: string;
  readonly version?: string;
  readonly state: PluginState;
  readonly requires: readonly string[];
  readonly missing: readonly string[];
  readonly error?: Error;
  readonly effects: EffectTree;
  /** How often it has been loaded or replaced, from 1. */
  readonly generation: number;
}

/**
 * The plugin host. Changes run one after another, so a plugin must not await one in its own setup, tap, tool or undo: the change waits
 * for the plugin. Such a wait ends with the limit of what waits (setup 30 s, calls in flight 10 s). A setup that takes longer than a second
 * holds up nobody else: other changes go on, and it is shown when it is ready. A later change of the same plugin gives it up.
 */
export interface Kernel extends AsyncDisposable {
  /** Never rejects for a plugin's fault: the returned status carries the error. Throws ORYX_PLUGIN_LOADED for a name in use. */
  load(plugin: Plugin, config?: unknown): Promise<PluginStatus>;
  /**
   * Swaps a plugin for a newer one while calls go on: the new one is set up beside the old one, then takes its place at once. When the new one
   * fails to start the old one goes on and the status carries the error. Plugins that use a service which changes thereby are set up again
   * in the same swap. When the plugin is the very same object, and nothing differs but settings that it declares as `live`, it runs on and gets them.
   */
  replace(plugin: Plugin, config?: unknown): Promise<PluginStatus>;
  /** Waits for calls in flight (10 s), then undoes everything the plugin did. */
  unload(name: string): Promise<void>;
  status(): readonly PluginStatus[];
  /** Unloads everything, last loaded first. */
  close(): Promise<void>;
}
