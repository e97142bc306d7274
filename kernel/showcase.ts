/** What a plugin shows to others: nothing while it is being set up, everything at once when it is ready, nothing once it leaves. */
import type { Announce, Owner } from './registry.ts';
import { OryxError } from './errors.ts';

/** One visible thing: an item, a service, a tap, a subscription. */
export interface Exhibit {
  /** For what can exist once only: its point and name, and what to throw when the plugin has one already. */
  readonly unique?: { readonly key: string; clash(): Error };
  /** Throws when the name belongs to somebody who is not leaving. */
  check?(leaving: ReadonlySet<Owner>): void;
  /** Makes it visible; the result tells the listeners. Synchronous. */
  show(): Announce;
  /** Undoes `show`. Synchronous; never throws. */
  hide(): Announce;
}

type Phase = 'staged' | 'live' | 'withdrawn';

/**
 * Goes one way: staged, live, withdrawn. Changing and announcing are apart, so that several showcases can change before anybody hears of
 * it.
 */
export class Showcase {
  readonly #owner: string;
  readonly #leaving: ReadonlySet<Owner>;
  readonly #exhibits = new Set<Exhibit>();
  readonly #keys = new Set<string>();
  #phase: Phase = 'staged';

  /** @param leaving  owners whose names are free to take: the runs that this one replaces */
  constructor(owner: string, leaving: ReadonlySet<Owner>) {
    this.#owner = owner;
    this.#leaving = leaving;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /**
   * Adds a thing; a live showcase shows it at once. The returned function takes it out again, and does nothing the second time.
   * Throws what `check` throws, and ORYX_SCOPE_CLOSED once the plugin is leaving.
   */
  add(exhibit: Exhibit): () => void {
    if (this.#phase === 'withdrawn')
      throw new OryxError('ORYX_SCOPE_CLOSED', `plugin "${this.#owner}" is stopping and can add nothing more`);
    const { unique } = exhibit;
    if (unique && this.#keys.has(unique.key)) throw unique.clash();
    exhibit.check?.(this.#phase === 'staged' ? this.#leaving : new Set());
    const announce = this.#phase === 'live' ? exhibit.show() : undefined;
    this.#exhibits.add(exhibit);
    if (unique) this.#keys.add(unique.key);
    announce?.();
    return () => {
      if (!this.#exhibits.delete(exhibit)) return;
      if (unique) this.#keys.delete(unique.key);
      if (this.#phase === 'live') exhibit.hide()();
    };
  }

  /** Throws when something in it can no longer be shown. */
  check(leaving: ReadonlySet<Owner>): void {
    for (const exhibit of this.#exhibits) exhibit.check?.(leaving);
  }

  /** True when `check` would not throw. */
  isFree(leaving: ReadonlySet<Owner>): boolean {
    try {
      this.check(leaving);
      return true;
    } catch {
      return false;
    }
  }

  /** Shows everything. Must follow a `check` without a pause. */
  publish(): readonly Announce[] {
    this.#phase = 'live';
    return Array.from(this.#exhibits, (exhibit) => exhibit.show());
  }

  /** Hides everything, last first, for good. */
  withdraw(): readonly Announce[] {
    const visible = this.#phase === 'live' ? [...this.#exhibits].toReversed() : [];
    this.#phase = 'withdrawn';
    this.#exhibits.clear();
    return visible.map((exhibit) => exhibit.hide());
  }
}
