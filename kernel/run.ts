/** One life of a plugin: how it begins and how it ends. */
import type { Plugin } from './contract/index.ts';
import { createContext, type Run, type World } from './context.ts';
import { within } from './deadline.ts';
import { OryxError, isOryxError, messageOf } from './errors.ts';
import { Gate } from './gate.ts';
import type { Owner } from './registry.ts';
import { compileSchema, deepFreeze } from './schema.ts';
import { Scope } from './scope.ts';
import { Showcase } from './showcase.ts';

const SETUP_TIMEOUT_MS = 30_000;
const DRAIN_TIMEOUT_MS = 10_000;
const ANYTHING = {};

/** A plugin to set up: what it is configured with and which services it gets. */
export interface Staging {
  readonly plugin: Plugin;
  readonly config: unknown;
  readonly services: Readonly<Record<string, unknown>>;
  /** Runs that this one takes the place of: their names are free to take. */
  readonly leaving: ReadonlySet<Owner>;
  /** Makes the setup fail now, with its reason. */
  readonly cancelled: AbortSignal;
}

/**
 * Sets a plugin up where nobody sees it. Nothing is left behind when that fails.
 * Rejects with the OryxError that `setup` threw, ORYX_PLUGIN_FAILED around anything else, ORYX_PLUGIN_CONFIG or ORYX_SETUP_TIMEOUT.
 */
export async function stage(world: World, { plugin, config, services, leaving, cancelled }: Staging): Promise<Run> {
  const { name } = plugin;
  const log = world.logs.logger(name);
  const run: Run = {
    owner: { name, gate: new Gate(world.clock) },
    scope: new Scope(name, { clock: world.clock, report: (message, error) => log.error(message, { error }) }),
    showcase: new Showcase(name, leaving),
    config: { current: checkedConfig(plugin, config), listeners: new Set() },
    services,
    provides: new Map(),
  };
  const setup = new Promise<void>((resolve, reject) => {
    cancelled.addEventListener('abort', () => reject(cancelled.reason as Error), { once: true });
    Promise.resolve()
      .then(() => plugin.setup(createContext(world, run)))
      .then(resolve, reject);
  });
  try {
    await within(world.clock, SETUP_TIMEOUT_MS, setup, () => overdue(name));
    return run;
  } catch (error) {
    await closeRun(world, run);
    if (isOryxError(error)) throw error;
    throw new OryxError('ORYX_PLUGIN_FAILED', `plugin "${name}" failed to start: ${messageOf(error)}`, { cause: error });
  }
}

/** Ends a run that nobody sees any more: abort, wait for calls in flight, undo. Never rejects; what goes wrong is logged. */
export async function closeRun(world: World, run: Run): Promise<void> {
  const { owner, scope, showcase } = run;
  const log = world.logs.logger('kernel');
  showcase.withdraw();
  scope.abort();
  const stuck = await owner.gate.drain(DRAIN_TIMEOUT_MS);
  if (stuck.length > 0) log.warn('a plugin closes while calls are still running in it', { closing: owner.name, calls: stuck });
  await scope.close().catch((error: AggregateError) => {
    for (const failure of error.errors) log.error('an effect could not be undone', { closing: owner.name, error: failure as unknown });
  });
}

/** Validated, with defaults, frozen. Throws ORYX_PLUGIN_CONFIG. */
export function checkedConfig({ name, config: schema }: Plugin, config: unknown = {}): unknown {
  const checked = compileSchema(schema ?? ANYTHING)(config);
  if (checked.ok) return deepFreeze(checked.value);
  throw new OryxError('ORYX_PLUGIN_CONFIG', `the configuration of plugin "${name}" is wrong: ${checked.message}`);
}

function overdue(name: string): OryxError {
  return new OryxError('ORYX_SETUP_TIMEOUT', `plugin "${name}" did not finish its setup within ${SETUP_TIMEOUT_MS / 1000} s`);
}
