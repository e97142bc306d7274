import type { Database, Statement as Prepared } from 'better-sqlite3';
import { type Clock, OryxError, type SqlValue, type Statement, type Store, type WriteResult } from '../../kernel/index.ts';
import type { GroupCommit } from './group-commit.ts';
import { StatementCache } from './statement-cache.ts';
import { isBusy, stopping, storeError } from './store-error.ts';

const BUSY_LIMIT_MS = 5_000;
const BUSY_PAUSE_MS = 50;

/** A store over one open database; closing refuses further calls and waits for the writes that are queued. */
export type SqliteStore = Omit<Store, 'migrate'> & { readonly close: () => Promise<void> };

/** Reads run at once on the same connection: between two commits it has no transaction open, so they see committed data only. */
export function sqliteStore(db: Database, commits: GroupCommit, clock: Clock): SqliteStore {
  const statements = new StatementCache(db);
  let closed = false;

  async function read<T>(sql: string, params: readonly SqlValue[], rows: (statement: Prepared) => T): Promise<T> {
    checkParams(sql, params);
    for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS) {
      if (closed) throw stopping();
      try {
        const statement = statements.prepare(sql);
        if (!statement.readonly) throw new TypeError('reads must not change anything, use write()');
        return rows(statement);
      } catch (error) {
        if (!isBusy(error) || waitedMs >= BUSY_LIMIT_MS) throw storeError(error, sql);
      }
      await new Promise<void>((resolve) => clock.after(BUSY_PAUSE_MS, resolve));
    }
  }

  function execute({ sql, params, expect = 0 }: Statement): WriteResult {
    const done = run(sql, () => statements.prepare(sql).run(...params));
    if (done.changes < expect) throw new OryxError('ORYX_STORE_CONFLICT', 'Something else changed this first; read it again and repeat.');
    return { changes: done.changes, lastInsertRowid: Number(done.lastInsertRowid) };
  }

  return {
    get: <Row>(sql: string, ...params: readonly SqlValue[]) =>
      read(sql, params, (statement) => statement.get(...params) as Row | undefined),
    all: <Row>(sql: string, ...params: readonly SqlValue[]) => read(sql, params, (statement) => statement.all(...params) as Row[]),
    write(...list) {
      try {
        for (const { sql, params } of list) checkParams(sql, params);
      } catch (error) {
        return Promise.reject(error);
      }
      if (list.length === 0) return Promise.resolve([]);
      return commits.add(() => list.map(execute), list.length);
    },
    async close() {
      await commits.close();
      closed = true;
    },
  };
}

function run<T>(sql: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storeError(error, sql);
  }
}

/** SQLite would store NaN as NULL, and the driver's own message does not say which statement it was. */
function checkParams(sql: string, params: readonly SqlValue[]): void {
  for (let index = 0; index < params.length; index += 1) {
    const value = params[index];
    const type = typeof value;
    if (type === 'string' || type === 'bigint' || value === null || value instanceof Uint8Array) continue;
    if (type === 'number' && !Number.isNaN(value)) continue;
    const advice = type === 'boolean' ? 'store booleans as 0 and 1' : 'bind a string, number, bigint, null or Uint8Array';
    throw new TypeError(`parameter ${index + 1} is ${describe(value)}, ${advice}; the statement is: ${sql}`);
  }
}

function describe(value: unknown): string {
  if (typeof value === 'object') return `an object of ${value?.constructor?.name ?? 'no class'}`;
  return typeof value === 'boolean' || typeof value === 'number' ? `${typeof value} ${value}` : typeof value;
}
