/** The store port: statement lists in, committed rows out. No interactive transactions. */

/** What SQLite can bind. Booleans are stored as 0 and 1 by the caller. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** One write. `expect` is the least number of rows it must change, else the whole list is undone with ORYX_STORE_CONFLICT. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  readonly expect?: number;
}

/**
 * What one statement did: how many rows it changed, and the id of the last row that this connection inserted (by an earlier statement, if
 * this one inserted none).
 */
export interface WriteResult {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

/** One step of a table's life. Never edited after it has shipped: its checksum is kept. */
export interface Migration {
  /** "001_create_runs": number and what it does. */
  readonly name: string;
  readonly up: readonly string[];
}

/** Reads see committed data only. Conflicts are detected by what a statement changed, never by read-then-write. */
export interface Store {
  get<Row>(sql: string, ...params: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Atomic and durable when resolved; grouped with its neighbours of the same event-loop tick into one commit.
   *
   * Rejects with ORYX_STORE_CONFLICT (unmet `expect`), ORYX_STORE_CONSTRAINT (unique, not null …) or ORYX_STORE_UNAVAILABLE
   * (disk full, read-only, locked, corrupt); only this list is undone then.
   */
  write(...statements: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** Brings the owner's tables up to date, once per (owner, name), in order, each in a transaction. */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
}
