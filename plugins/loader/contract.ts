/** What is known about the plugins of a host. */

/** What is true of every plugin that is not built in. */
export const TRUST = 'third-party code: it runs in the server with full access; the sandbox judges only what its tools claim';

/** A plugin as the API shows it. */
export interface PluginView {
  /** Of a built-in plugin its own name, otherwise the name in the configuration. */
  readonly name: string;
  readonly version: string | null;
  readonly source: 'builtin' | 'package' | 'directory';
  /** `pending`: it is being imported or set up, or a service that it requires is missing. */
  readonly state: 'pending' | 'active' | 'failed';
  /** Services it requires, and which of them do not exist. */
  readonly requires: readonly string[];
  readonly missing: readonly string[];
  /** Why the last start, reload or change of the configuration did not succeed. An active plugin with an error goes on as it was before. */
  readonly error: string | null;
  /** Labels of what it registered, tapped, provides and owns. */
  readonly effects: readonly string[];
  /** How often it has been loaded or replaced, from 1; 0 while it has not been. */
  readonly generation: number;
  /** What its operator should know; e.g. that a changed setting needs a restart. */
  readonly warnings: readonly string[];
  /** What somebody's plugin may do, in one sentence; null for the built-in ones. */
  readonly trust: string | null;
}

/** A setting as the API shows it; secrets are masked. */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  /** "default", "file <path>", "environment <NAME>" or "flag". */
  readonly origin: string;
}

/** The plugins of this host. */
export interface Plugins {
  /** Built-in plugins in order of loading, then those of the configuration in its order. Secrets in errors are masked. */
  list(): readonly PluginView[];
  /**
   * Loads a plugin of the configuration anew from the disk, or starts a built-in one that failed. Resolves when it is known what became of it.
   *
   * Rejects with ORYX_NOT_FOUND for an unknown name and ORYX_CONFLICT for a built-in plugin that has not failed.
   */
  retry(name: string): Promise<PluginView>;
  /** Every known setting that is in effect, sorted by key, with its origin. */
  settings(): readonly SettingView[];
  /** What is wrong at the moment with the configuration file, one sentence each; empty when all of it is in effect. */
  problems(): readonly string[];
}

declare module '../../kernel/index.ts' {
  interface Services {
    plugins: Plugins;
  }
}
