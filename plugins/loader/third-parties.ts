/** The plugins that the configuration names. */
import { isDeepStrictEqual } from 'node:util';
import { type PluginSection, ThirdParty, type ThirdPartyParts } from './third-party.ts';

/** How long a start waits for plugins; slower ones come when they are ready. */
const START_WAIT_MS = 5_000;

/** The section `oryxos.plugins`. */
export type PluginSections = Readonly<Record<string, PluginSection>>;

/** Keeps one entry for each section. */
export class ThirdParties {
  readonly #parts: ThirdPartyParts;
  readonly #entries = new Map<string, ThirdParty>();
  readonly #onChange: () => void;

  /** @param onChange  called when plugins came, went or were found elsewhere */
  constructor(parts: ThirdPartyParts, onChange: () => void) {
    this.#parts = parts;
    this.#onChange = onChange;
  }

  /** In the order of the configuration. */
  list(): readonly ThirdParty[] {
    return [...this.#entries.values()];
  }

  get(name: string): ThirdParty | undefined {
    return this.#entries.get(name);
  }

  /**
   * Loads all: imports run side by side, and each is loaded after the one before it, so that of two plugins that want the same name the first
   * gets it. Resolves when all are through, at the latest after 5 s; neither a slow nor a broken plugin holds up the start, or the others.
   */
  async start(sections: PluginSections): Promise<void> {
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#parts.kernel.clock.after(START_WAIT_MS, resolve);
    });
    let turn: Promise<unknown> = Promise.resolve();
    for (const [name, section] of Object.entries(sections)) turn = this.#add(name, section, Promise.race([turn, late]));
    await Promise.race([turn, late]);
    cancel();
  }

  /** Begins to load what is new, to load anew what has changed, and to unload what is gone; the rest is left alone. */
  change(sections: PluginSections): void {
    for (const [name, entry] of this.#entries) {
      if (name in sections) continue;
      this.#entries.delete(name);
      void entry.remove();
      this.#onChange();
    }
    for (const [name, section] of Object.entries(sections)) {
      const entry = this.#entries.get(name);
      if (entry === undefined) void this.#add(name, section);
      else if (!isDeepStrictEqual(entry.section, section)) void entry.load(section).then(this.#onChange);
    }
  }

  #add(name: string, section: PluginSection, turn?: Promise<unknown>): Promise<void> {
    const entry = new ThirdParty(name, section, this.#parts);
    this.#entries.set(name, entry);
    return entry.load(section, turn ? { turn } : {}).then(this.#onChange);
  }
}
