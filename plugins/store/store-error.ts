import { OryxError, messageOf } from '../../kernel/index.ts';

const UNAVAILABLE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full. Free some space and try again',
  SQLITE_READONLY: 'the database is read-only. Check the permissions of the workspace and whether its disk is mounted read-only',
  SQLITE_PERM: 'permission denied. Check the permissions of the workspace',
  SQLITE_CANTOPEN: 'the database file cannot be opened. Check the permissions of the workspace',
  SQLITE_IOERR: 'the disk reported an error',
  SQLITE_CORRUPT: 'the database is damaged. Stop the server and restore a backup',
  SQLITE_NOTADB: 'the database file is not a database. Stop the server and restore a backup',
  SQLITE_BUSY: 'another program holds the database. Close it and try again',
  SQLITE_LOCKED: 'another program holds the database. Close it and try again',
  SQLITE_PROTOCOL: 'another program holds the database. Close it and try again',
  SQLITE_NOMEM: 'memory ran out',
};

/** The result code of SQLite without its extension ("SQLITE_IOERR" for "SQLITE_IOERR_WRITE"); undefined when the error is not SQLite's. */
export function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || !code.startsWith('SQLITE_')) return undefined;
  return code.split('_', 2).join('_');
}

/** Another connection holds a lock: trying again later may succeed. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === 'SQLITE_BUSY';
}

/**
 * What callers of the store see: ORYX_STORE_CONSTRAINT, ORYX_STORE_UNAVAILABLE, or, for a statement that can never work, a TypeError that
 * names its SQL (a fault of the program, for its author, not for clients). What is no fault of the database passes unchanged.
 */
export function storeError(error: unknown, sql?: string): Error {
  const code = sqliteCode(error);
  if (code === 'SQLITE_CONSTRAINT') {
    const kind = ((error as NodeJS.ErrnoException).code ?? '').slice('SQLITE_CONSTRAINT_'.length).toLowerCase() || 'table';
    return new OryxError('ORYX_STORE_CONSTRAINT', `The store refused a row: it breaks a ${kind} constraint.`, { cause: error });
  }
  const reason = code === undefined ? undefined : UNAVAILABLE[code];
  if (reason !== undefined) return new OryxError('ORYX_STORE_UNAVAILABLE', `The store is not available: ${reason}.`, { cause: error });
  if (sql !== undefined && (code !== undefined || error instanceof TypeError || error instanceof RangeError)) {
    return new TypeError(`${messageOf(error)}; the statement is: ${sql}`, { cause: error });
  }
  return error instanceof Error ? error : new Error(messageOf(error));
}

/** What every call gets once the store is closing. */
export function stopping(): OryxError {
  return new OryxError('ORYX_STOPPING', 'The server is stopping; the request was not stored.');
}
