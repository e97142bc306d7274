import type { Database, Statement } from 'better-sqlite3';

const CAPACITY = 500;
/** Would break the transaction that every write runs in, or reach other files. */
const REFUSED = /^\s*(begin|commit|end|rollback|savepoint|release|attach|detach|vacuum)\b/i;

/** Prepares each SQL text once. Holds at most 500 statements, the least recently used goes first. */
export class StatementCache {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Throws TypeError for transaction control, and as the driver does for SQL that is wrong. */
  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    // While there is room nothing will have to go, and the order does not matter.
    if (known !== undefined && this.#statements.size <= CAPACITY / 2) return known;
    if (known !== undefined) {
      this.#statements.delete(sql);
      this.#statements.set(sql, known);
      return known;
    }
    if (REFUSED.test(sql)) throw new TypeError('transactions are the store’s own business, a list of statements is one already');
    const statement = this.#db.prepare(sql);
    if (this.#statements.size >= CAPACITY) this.#statements.delete(this.#statements.keys().next().value ?? '');
    this.#statements.set(sql, statement);
    return statement;
  }
}
