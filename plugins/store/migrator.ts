import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { type Clock, type Migration, OryxError, isOryxError, messageOf } from '../../kernel/index.ts';
import type { GroupCommit } from './group-commit.ts';
import type { AppliedMigration, SchemaMigrations } from './schema-migration-repository.ts';
import { stopping } from './store-error.ts';

/** Migrations that follow each other this closely, as at a start, share one backup. */
const BACKUP_VALID_MS = 60_000;

/** What `migrator` works with. */
export interface MigratorParts {
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly schema: SchemaMigrations;
  readonly clock: Clock;
  /** The database held data of an earlier process when it was opened. */
  readonly hadData: boolean;
  /** Makes a copy before something that has data is changed. */
  readonly backUp: () => Promise<unknown>;
  readonly onApplied: (owner: string, names: readonly string[]) => void;
}

/** `Store.migrate`, and a `close` that refuses further calls and waits for the one under way. */
export interface Migrator {
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  close(): Promise<void>;
}

/** Takes one call at a time; each migration commits together with its record, or not at all. */
export function migrator(parts: MigratorParts): Migrator {
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  let backedUpAt = Number.NEGATIVE_INFINITY;

  async function migrate(owner: string, migrations: readonly Migration[]): Promise<void> {
    if (closed) throw stopping();
    const applied = parts.schema.applied(owner);
    const known = migrations.map((migration) => ({ ...migration, checksum: checksumOf(migration) }));
    refuseForeign(owner, known, applied);
    const pending = known.slice(applied.length);
    if (pending.length === 0) return;
    if ((parts.hadData || applied.length > 0) && parts.clock.monotonic() - backedUpAt > BACKUP_VALID_MS) {
      await parts.backUp();
      backedUpAt = parts.clock.monotonic();
    }
    await apply(owner, pending);
    parts.onApplied(
      owner,
      pending.map(({ name }) => name),
    );
  }

  async function apply(owner: string, pending: readonly (Migration & AppliedMigration)[]): Promise<void> {
    // Loading it takes longer than a whole start without it, and most starts have nothing to apply.
    const { Umzug } = await import('umzug');
    const steps = pending.map((migration) => ({
      name: migration.name,
      up: () => parts.commits.add(() => applyOne(owner, migration), migration.up.length + 1, true),
    }));
    // The record is part of each step's transaction, so there is nothing left to log afterwards.
    const storage = { executed: () => Promise.resolve([]), logMigration: () => Promise.resolve(), unlogMigration: () => Promise.resolve() };
    try {
      await new Umzug({ migrations: steps, storage, logger: undefined }).up();
    } catch (error) {
      throw migrationError(owner, error);
    }
  }

  function applyOne(owner: string, migration: Migration & AppliedMigration): void {
    for (const sql of migration.up) parts.db.exec(sql);
    if (!parts.db.inTransaction) throw new TypeError('a migration must not end the transaction that it runs in');
    parts.schema.record(owner, migration, parts.clock.now());
  }

  return {
    migrate(owner, migrations) {
      const done = last.then(() => migrate(owner, migrations));
      last = done.catch(() => undefined);
      return done;
    },
    async close() {
      closed = true;
      await last;
    },
  };
}

function refuseForeign(owner: string, known: readonly AppliedMigration[], applied: readonly AppliedMigration[]): void {
  const names = new Set(known.map(({ name }) => name));
  if (names.size < known.length) throw new TypeError(`the migrations of "${owner}" have names that are not unique`);
  const way = 'Start the build that wrote this database, or restore a backup that is older.';
  for (const [index, { name, checksum }] of applied.entries()) {
    if (!names.has(name))
      throw newer(`The database was written by a newer build: migration "${name}" of "${owner}" is unknown here. ${way}`);
    if (known[index]?.name !== name)
      throw newer(`Migration "${name}" of "${owner}" was applied in another order than this build has it. ${way}`);
    if (known[index]?.checksum !== checksum) throw newer(`Migration "${name}" of "${owner}" was changed after it had been applied. ${way}`);
  }
}

function newer(message: string): OryxError {
  return new OryxError('ORYX_STORE_NEWER', message);
}

function migrationError(owner: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (isOryxError(cause) && cause.code !== 'ORYX_STORE_CONSTRAINT') return cause;
  const name = (error as { migration?: { name?: string } }).migration?.name ?? 'unknown';
  return new Error(`migration "${name}" of "${owner}" failed: ${messageOf(cause)}`, { cause });
}

function checksumOf({ up }: Migration): string {
  return createHash('sha256').update(JSON.stringify(up)).digest('hex');
}
