/** Puts a new run of a plugin in the old one's place while calls go on. */
import type { Barrier } from './barrier.ts';
import type { Run, World } from './context.ts';
import { OryxError } from './errors.ts';
import type { Candidate, FindService, Loaded } from './loaded.ts';
import { NOBODY, activate, dependentsOf, isFresh, missingServices, serviceFinder } from './loaded.ts';
import type { Announce, Owner } from './registry.ts';
import { closeRun } from './run.ts';

/** What a swap needs of the plugin host. */
export interface SwapHost {
  readonly world: World;
  readonly barrier: Barrier;
  /** Running plugins, last loaded first. */
  running(): readonly Loaded[];
  stage(next: Candidate, find: FindService, leaving: ReadonlySet<Owner>): Promise<Run>;
}

/** One plugin's part. Without `next` it could not be staged; it is pending then and can start again, now that the old run has closed. */
interface Change {
  readonly loaded: Loaded;
  readonly old: Run;
  readonly next?: Run;
}

/**
 * Stages new runs of everything that uses a service which changes when `next` takes the place of `old`, and exchanges all of them at once.
 * Resolves with what closes the old runs, users before providers. Rejects, with `next` closed and nothing changed, when it cannot be shown.
 *
 * @param leaving  the owners that `next` was staged with
 */
export async function swap(host: SwapHost, loaded: Loaded, old: Run, next: Run, leaving: Set<Owner>): Promise<() => Promise<void>> {
  const changes = [{ loaded, old, next }, ...(await stageUsers(host, old, next, leaving))];
  const closeLosers = async (): Promise<void> => {
    for (const change of changes.toReversed()) {
      if (change.next && change.loaded.run !== change.next) await closeRun(host.world, change.next);
      if (change.loaded.run !== change.old) await closeRun(host.world, change.old);
    }
  };
  try {
    await host.barrier.during(() => exchange(host, changes, leaving));
  } catch (error) {
    await closeLosers();
    throw error;
  }
  return closeLosers;
}

async function stageUsers(host: SwapHost, old: Run, next: Run, leaving: Set<Owner>): Promise<readonly Change[]> {
  const changed = [...old.provides.keys()].filter((name) => next.provides.get(name) !== old.provides.get(name));
  const users = dependentsOf(changed, host.running());
  for (const { run } of users) if (run) leaving.add(run.owner);
  const offered = new Map(next.provides);
  const live = serviceFinder(host.world.services, leaving);
  const find = (name: string): unknown => offered.get(name) ?? live(name);
  const changes: Change[] = [];
  for (const loaded of users) {
    if (!loaded.run) continue;
    const change = { loaded, old: loaded.run };
    const user = await stageUser(host, loaded, find, leaving);
    for (const [name, service] of user?.provides ?? []) offered.set(name, service);
    changes.push(user ? { ...change, next: user } : change);
  }
  return changes;
}

async function stageUser(host: SwapHost, loaded: Loaded, find: FindService, leaving: Set<Owner>): Promise<Run | undefined> {
  if (missingServices(loaded.plugin, find).length > 0) return undefined;
  return host.stage(loaded, find, leaving).catch((error: unknown) => {
    host.world.logs
      .logger('kernel')
      .warn('a plugin could not start beside its old run and starts after it', { waiting: loaded.plugin.name, error });
    return undefined;
  });
}

/** Synchronous, and nobody hears of it before all of it is done. Throws for the first change only, before anything has happened. */
function exchange({ world }: SwapHost, changes: readonly Change[], leaving: ReadonlySet<Owner>): void {
  const find = serviceFinder(world.services);
  const first = changes[0]?.next;
  if (first && !isFresh(first, find))
    throw new OryxError('ORYX_SERVICE_MISSING', `a service that "${first.owner.name}" requires has changed`);
  first?.showcase.check(leaving);
  const announcements: Announce[] = changes.toReversed().flatMap(({ old }) => old.showcase.withdraw());
  for (const { loaded, next } of changes) {
    delete loaded.run;
    loaded.state = 'pending';
    if (!next || !isFresh(next, find) || !next.showcase.isFree(NOBODY)) continue;
    announcements.push(...next.showcase.publish());
    activate(loaded, next);
  }
  for (const announce of announcements) announce();
}
