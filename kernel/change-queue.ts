/** Changes of the plugin set, one after another. */
import type { World } from './context.ts';
import { within } from './deadline.ts';

/** How long a change waits in its place for the setup of a plugin. */
const PATIENCE_MS = 1_000;

/** Runs one change at a time. A setup that takes its time does not hold up the changes of others. */
export class ChangeQueue {
  readonly #world: Pick<World, 'clock' | 'outside'>;
  #last: Promise<unknown> = Promise.resolve();
  /** What the change that runs now has put off. */
  #putOff: Promise<void>[] = [];

  constructor(world: Pick<World, 'clock' | 'outside'>) {
    this.#world = world;
  }

  /** Runs a change after those before it, outside of the call that asked for it. Settles as it does, once what it has put off is done too. */
  async run<T>(change: () => Promise<T>): Promise<T> {
    const putOff: Promise<void>[] = [];
    const done = this.#last.then(() => {
      this.#putOff = putOff;
      return this.#world.outside(change);
    });
    this.#last = done.catch(ignore);
    const result = await done;
    await Promise.all(putOff);
    return result;
  }

  /** For a running change: calls `finish`, which must not reject, when `work` has settled. After a second the queue goes on, and `finish` becomes a change of its own. */
  async after(work: Promise<unknown>, finish: (isLate: boolean) => Promise<void>): Promise<void> {
    const settled = work.then(ignore, ignore);
    const isLate = await within(this.#world.clock, PATIENCE_MS, settled, () => new Error()).then(ignore, () => true);
    if (isLate) this.#putOff.push(settled.then(() => this.run(() => finish(true))));
    else await finish(false);
  }
}

const ignore = (): undefined => undefined;
