/** What the store offers beyond the kernel's port. */

/** Online copies of the database. */
export interface Backups {
  /** Writes a verified copy to `<root>/backups/` and resolves with its path. Writers go on meanwhile. */
  create(reason: string): Promise<string>;
}

/** Whether the database takes writes. */
export interface StoreHealth {
  /** Why the last write could not be stored, in words for a client; undefined while all is well. Cleared by the next write that succeeds. */
  problem(): string | undefined;
}

declare module '../../kernel/index.ts' {
  interface Services {
    backups: Backups;
    storeHealth: StoreHealth;
  }
}
