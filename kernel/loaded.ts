/** A plugin that somebody loaded, and what it needs of the others. */
import type { Plugin, PluginState } from './contract/index.ts';
import type { Run, ServiceItem } from './context.ts';
import type { Owner, Registry } from './registry.ts';

/** What to run. */
export interface Candidate {
  plugin: Plugin;
  config: unknown;
}

/** The record of one plugin from load to unload; it changes in place. */
export interface Loaded extends Candidate {
  generation: number;
  state: PluginState;
  error?: Error;
  /** Present from the moment it is active until it has closed. */
  run?: Run;
  /** A run that is being set up, beside the present one if there is one. */
  setup?: Setup;
}

/** A run in the making. `cancel` makes `run` reject. */
export interface Setup {
  readonly run: Promise<Run>;
  readonly cancel: AbortController;
}

/** The service of that name as the asker should see it; undefined when there is none. */
export type FindService = (name: string) => unknown;

/** For checks when no owner is leaving. */
export const NOBODY: ReadonlySet<Owner> = new Set();

/** Makes a staged run the running one. */
export function activate(loaded: Loaded, run: Run): void {
  loaded.run = run;
  loaded.state = 'active';
  delete loaded.error;
}

/** Finds services as they look to a run that is set up while others are leaving. */
export function serviceFinder(services: Registry<ServiceItem>, leaving: ReadonlySet<Owner> = NOBODY): FindService {
  return (name) => {
    const entry = services.entry(name);
    return entry && !leaving.has(entry.owner) ? entry.item.service : undefined;
  };
}

/** Required services that do not exist. */
export function missingServices({ requires }: Plugin, find: FindService): readonly string[] {
  return requires.filter((name) => find(name) === undefined);
}

/** True while every service that the run was set up with is still the one that others get. */
export function isFresh({ services }: Run, find: FindService): boolean {
  return Object.entries(services).every(([name, service]) => find(name) === service);
}

/** Everything among `running` that uses these services, directly or not: providers before their users, else last of the list first. */
export function dependentsOf(services: Iterable<string>, running: readonly Loaded[]): readonly Loaded[] {
  const found: Loaded[] = [];
  const visit = (names: ReadonlySet<string>): void => {
    for (const loaded of running) {
      if (found.includes(loaded) || !loaded.plugin.requires.some((name) => names.has(name))) continue;
      visit(new Set(loaded.run?.provides.keys()));
      found.unshift(loaded);
    }
  };
  visit(new Set(services));
  return found;
}
