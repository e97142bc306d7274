import type { Database } from 'better-sqlite3';

/** A migration that has been applied. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** Which migrations this database has seen. Synchronous: it is used inside the transaction of the migration itself. */
export interface SchemaMigrations {
  /** In the order in which they were applied. */
  applied(owner: string): readonly AppliedMigration[];
  record(owner: string, migration: AppliedMigration, appliedAt: number): void;
}

/** Creates its table when it is missing. */
export function schemaMigrationRepository(db: Database): SchemaMigrations {
  db.exec(`CREATE TABLE IF NOT EXISTS schema_migrations (
    owner TEXT NOT NULL, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (owner, name))`);
  const select = db.prepare<[string], AppliedMigration>('SELECT name, checksum FROM schema_migrations WHERE owner = ? ORDER BY rowid');
  const insert = db.prepare<[string, string, string, number]>('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)');
  return {
    applied: (owner) => select.all(owner),
    record: (owner, { name, checksum }, appliedAt) => void insert.run(owner, name, checksum, appliedAt),
  };
}

/** Whether anything was ever stored here. */
export function hasTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1").get() !== undefined;
}
