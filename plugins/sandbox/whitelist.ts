import type { Clock, Store, WriteResult } from '../../kernel/index.ts';
import { entriesInForce, entryAdded, entryRemoved, entrySeeded } from './whitelist-repository.ts';
import type { Category } from './whitelist-repository.ts';

/** What tools may touch. `file` holds real paths and begins with the workspace, `http` entries are lower case. */
export interface Lists {
  readonly file: readonly string[];
  readonly shell: readonly string[];
  readonly http: readonly string[];
}

/** An entry of the configuration and what it means. */
export interface Seed {
  readonly category: Category;
  readonly configured: string;
  readonly value: string;
}

/** The whitelists: kept in the database, judged from memory. Changes run one after another and count from the moment they are durable. */
export class Whitelist {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #root: string;
  #lists: Lists = { file: [], shell: [], http: [] };
  #last: Promise<unknown> = Promise.resolve();

  /** Lists nothing until `seed` has been called. `root` is always allowed. */
  constructor(store: Store, clock: Clock, root: string) {
    this.#store = store;
    this.#clock = clock;
    this.#root = root;
  }

  get lists(): Lists {
    return this.#lists;
  }

  /** Takes over entries of the configuration that are new, and loads what is in force. Rejects as `Store.write` does. */
  async seed(seeds: readonly Seed[]): Promise<void> {
    const at = this.#clock.now();
    const statements = seeds.flatMap(({ category, configured, value }) => entrySeeded(category, configured, value, at));
    await this.#change(() => (statements.length > 0 ? this.#store.write(...statements) : Promise.resolve([])));
  }

  /** Adds an entry in its canonical form. Answers false when it was there already. Rejects as `Store.write` does. */
  async add(category: Category, value: string): Promise<boolean> {
    if (category === 'FILE' && value === this.#root) return false;
    const [result] = await this.#change(() => this.#store.write(entryAdded(category, value, this.#clock.now())));
    return result?.changes === 1;
  }

  /** Removes an entry in its canonical form. Answers false when it was not there. Rejects as `Store.write` does. */
  async remove(category: Category, value: string): Promise<boolean> {
    const [result] = await this.#change(() => this.#store.write(entryRemoved(category, value, this.#clock.now())));
    return result?.changes === 1;
  }

  #change(write: () => Promise<readonly WriteResult[]>): Promise<readonly WriteResult[]> {
    const changed = this.#last.then(async () => {
      const results = await write();
      await this.#load();
      return results;
    });
    // The next change does not depend on this one's success; its caller hears of the failure.
    this.#last = changed.catch(() => undefined);
    return changed;
  }

  async #load(): Promise<void> {
    const rows = await entriesInForce(this.#store);
    const of = (category: Category): string[] => rows.filter((row) => row.category === category).map((row) => row.entry_value);
    const files = of('FILE').filter((path) => path !== this.#root);
    this.#lists = { file: [this.#root, ...files], shell: of('SHELL'), http: of('HTTP') };
  }
}
