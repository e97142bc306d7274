/** What the store offers beyond the kernel's port. */

/** Online copies of the database. */
export interface Backups {
  /** Writes a verified copy to `<root>/backups/` and resolves with its path. Writers go on meanwhile. */
  create(reason: string): Promise<string>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    backups: Backups;
  }
}
