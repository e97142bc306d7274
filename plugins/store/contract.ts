/** What the store offers beyond the kernel's port. */

export { startRetention } from './retention.ts';
export type { Pruning, RetentionParts } from './retention.ts';

/** Online copies of the database. */
export interface Backups {
  /** Writes a verified copy to `<root>/backups/` and resolves with its path. Writers go on meanwhile. */
  create(reason: string): Promise<string>;
}

/** Whether the database takes writes. */
export interface StoreHealth {
  /** Why the last write could not be stored, in words for a client; undefined while all is well. Cleared by the next write that succeeds. */
  problem(): string | undefined;
  /**
   * Reads every page of the database (`quick_check`) while work goes on. Resolves with what is wrong, undefined when it is sound. Rejects with
   * ORYX_STOPPING when the server stops meanwhile.
   */
  check(): Promise<string | undefined>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    backups: Backups;
    storeHealth: StoreHealth;
  }
}
