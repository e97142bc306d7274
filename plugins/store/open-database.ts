import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OryxError, messageOf } from '../../kernel/index.ts';
import { newestBackup } from './backup-name.ts';
import { isBusy, sqliteCode, storeError } from './store-error.ts';

/** One attempt to get a lock may hold the event loop this long; waiting longer is done between attempts. */
const BUSY_TIMEOUT_MS = 50;
/** Checking this much takes some 20 ms, so it is done at every start, not only after a crash. */
const CHEAP_CHECK_BYTES = 16 * 1024 * 1024;
/** A write-ahead log that has grown beyond this is cut back at the next checkpoint. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

/** Where the database of a workspace is. */
export const databaseFile = (root: string): string => join(root, 'oryxos.db');

/**
 * Opens `<root>/oryxos.db`, creating it when there is none: write-ahead log, `synchronous=FULL`, foreign keys, `secure_delete`, mode 0600.
 * The caller holds the workspace lock and closes the database.
 *
 * Throws ORYX_STORE_UNAVAILABLE, with the way out, for a database that is damaged, empty beside existing agents, or cannot be opened. A
 * damaged file is left as it was found.
 */
export function openDatabase(root: string): Database.Database {
  const file = databaseFile(root);
  const size = sizeOf(file);
  if (size === undefined && sizeOf(`${file}-wal`)) throw lost(root, 'oryxos.db is missing, but its log oryxos.db-wal is there');
  if (size === 0 && hasAgents(root)) throw lost(root, 'oryxos.db is empty, though the workspace has agents');
  try {
    if (!size) create(file);
    // SQLite removes the log when the last connection closes, so one that is left tells of a crash.
    if (size && (sizeOf(`${file}-wal`) || size <= CHEAP_CHECK_BYTES)) check(root, file);
    return connect(file);
  } catch (error) {
    throw openError(root, error);
  }
}

/** Made under another name first: a crash can then not leave an empty `oryxos.db`, which looks like a lost one. */
function create(file: string): void {
  const temp = join(file, '..', `.oryxos.db.${process.pid}-new.tmp`);
  rmSync(temp, { force: true });
  const db = new Database(temp);
  db.pragma('journal_mode = WAL');
  db.close();
  chmodSync(temp, 0o600);
  renameSync(temp, file);
}

/** Read-only, so that a damaged database is not touched before somebody has decided what to do. */
function check(root: string, file: string): void {
  const db = new Database(file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const found = db.pragma('quick_check(1)', { simple: true });
    if (found !== 'ok') throw damaged(root, new Error(String(found)));
  } finally {
    db.close();
  }
}

function connect(file: string): Database.Database {
  chmodSync(file, 0o600);
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('secure_delete = ON');
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

function openError(root: string, error: unknown): Error {
  const code = sqliteCode(error);
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB') return damaged(root, error);
  if (!isBusy(error)) return storeError(error);
  const message = 'The database oryxos.db is in use by another program. Close it and start again.';
  return new OryxError('ORYX_STORE_UNAVAILABLE', message, { cause: error });
}

function damaged(root: string, cause: unknown): OryxError {
  const message = `The database oryxos.db is damaged (${messageOf(cause)}). ${wayOut(root)}`;
  return new OryxError('ORYX_STORE_UNAVAILABLE', message, { cause });
}

function lost(root: string, what: string): OryxError {
  const message = `${what}: the data seems to be lost. ${wayOut(root)} To begin with an empty history instead, delete oryxos.db, oryxos.db-wal and oryxos.db-shm.`;
  return new OryxError('ORYX_STORE_UNAVAILABLE', message);
}

function wayOut(root: string): string {
  const backup = newestBackup(root);
  const copy = backup === undefined ? 'a backup of yours (there is none in backups/)' : `a backup (the newest is backups/${backup})`;
  return `Move oryxos.db, oryxos.db-wal and oryxos.db-shm out of the workspace and put ${copy} in place as oryxos.db.`;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function hasAgents(root: string): boolean {
  const agents = join(root, 'agents');
  return existsSync(agents) && readdirSync(agents).some((name) => existsSync(join(agents, name, 'AGENT.md')));
}
