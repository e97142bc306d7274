import type { Database } from 'better-sqlite3';
import { type Clock, isOryxError } from '../../kernel/index.ts';
import { isBusy, sqliteCode, stopping, storeError } from './store-error.ts';

/** A commit of this many statements takes about 4 ms; the rest waits for the next turn of the event loop. */
const MAX_STATEMENTS = 1_000;
const BUSY_LIMIT_MS = 5_000;
const BUSY_PAUSE_MS = 20;
const BUSY_PAUSE_MAX_MS = 320;

interface Job {
  /** Runs inside the transaction; what it throws undoes this job only. */
  readonly run: () => unknown;
  readonly statements: number;
  readonly alone: boolean;
  /** It shared a transaction in which one of the jobs failed: each of them now runs in a savepoint. */
  readonly apart: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Commits everything that one turn of the event loop has queued in one transaction, in order; a job that fails is undone alone. A job is
 * settled only after COMMIT has returned. When another program holds the database, BEGIN is tried again for 5 s without blocking the loop.
 *
 * Savepoints copy every page that is changed under them, so a group runs without any; when one of its jobs fails, all of it is rolled back and
 * runs again with a savepoint for each.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #onHealth: (error: Error | undefined) => void;
  readonly #control: Readonly<Record<'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'undo', () => void>>;
  #queue: Job[] = [];
  #scheduled = false;
  #closed = false;
  #busySince: number | undefined;
  #onIdle: (() => void)[] = [];

  /** @param onHealth  hears the error of every commit that the database could not take, and undefined for every one that it took */
  constructor(db: Database, clock: Clock, onHealth: (error: Error | undefined) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#onHealth = onHealth;
    const command = (sql: string): (() => void) => {
      const statement = db.prepare(sql);
      return () => void statement.run();
    };
    this.#control = {
      begin: command('BEGIN IMMEDIATE'),
      commit: command('COMMIT'),
      rollback: command('ROLLBACK'),
      savepoint: command('SAVEPOINT job'),
      release: command('RELEASE job'),
      undo: command('ROLLBACK TO job'),
    };
  }

  /**
   * Resolves with what `run` returned when it is on disk.
   *
   * @param statements  how many `run` executes, for the size of the group
   * @param alone  gives the job a transaction of its own
   */
  add<T>(run: () => T, statements: number, alone = false): Promise<T> {
    if (this.#closed) return Promise.reject(stopping());
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, statements, alone, apart: false, resolve, reject });
      this.#schedule();
    });
  }

  /** Refuses new jobs and resolves when those that are queued have ended. */
  close(): Promise<void> {
    this.#closed = true;
    if (!this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    try {
      this.#rollback();
      this.#control.begin();
    } catch (error) {
      this.#beginFailed(error);
      return;
    }
    this.#busySince = undefined;
    this.#commit(this.#takeGroup());
    this.#next();
  }

  #next(): void {
    this.#scheduled = false;
    if (this.#queue.length > 0) return this.#schedule();
    for (const idle of this.#onIdle.splice(0)) idle();
  }

  #beginFailed(error: unknown): void {
    const now = this.#clock.monotonic();
    this.#busySince ??= now;
    const waitedMs = now - this.#busySince;
    if (isBusy(error) && waitedMs < BUSY_LIMIT_MS) {
      this.#clock.after(Math.min(BUSY_PAUSE_MAX_MS, Math.max(BUSY_PAUSE_MS, waitedMs)), () => this.#flush());
      return;
    }
    this.#busySince = undefined;
    const failure = storeError(error);
    this.#onHealth(failure);
    for (const job of this.#queue.splice(0)) job.reject(failure);
    this.#next();
  }

  #takeGroup(): readonly Job[] {
    let statements = 0;
    let size = 0;
    for (const job of this.#queue) {
      if (size > 0 && (job.alone || statements + job.statements > MAX_STATEMENTS)) break;
      statements += job.statements;
      size += 1;
      if (job.alone) break;
    }
    return this.#queue.splice(0, size);
  }

  #commit(group: readonly Job[]): void {
    const settle: (() => void)[] = [];
    const isApart = group.length > 1 && group.some(({ apart }) => apart);
    for (const job of group) {
      try {
        const value = isApart ? this.#inSavepoint(job) : job.run();
        settle.push(() => job.resolve(value as never));
      } catch (error) {
        if (group.length > 1 && !isApart) return this.#againApart(group);
        if (group.length === 1 || !this.#undo()) return this.#fail(job, error, group);
        const failure = this.#noted(error);
        settle.push(() => job.reject(failure));
      }
    }
    try {
      this.#control.commit();
    } catch (error) {
      return this.#commitFailed(group, error);
    }
    this.#onHealth(undefined);
    for (const done of settle) done();
  }

  #inSavepoint(job: Job): unknown {
    this.#control.savepoint();
    const value = job.run();
    this.#control.release();
    return value;
  }

  /** Takes back the job that failed; false when the transaction is lost with it, as SQLite decides on a full disk. */
  #undo(): boolean {
    try {
      this.#control.undo();
      this.#control.release();
      return true;
    } catch {
      return false;
    }
  }

  #fail(culprit: Job, error: unknown, group: readonly Job[]): void {
    this.#abandon();
    culprit.reject(this.#noted(error));
    this.#again(group.filter((job) => job !== culprit));
  }

  #commitFailed(group: readonly Job[], error: unknown): void {
    this.#abandon();
    // A deferred foreign key speaks up only now, and does not say whose it is.
    if (sqliteCode(error) === 'SQLITE_CONSTRAINT' && group.length > 1) return this.#again(group);
    const failure = this.#noted(error);
    for (const job of group) job.reject(failure);
  }

  #againApart(group: readonly Job[]): void {
    this.#abandon();
    this.#queue = [...group.map((job) => ({ ...job, apart: true })), ...this.#queue];
  }

  #again(jobs: readonly Job[]): void {
    this.#queue = [...jobs.map((job) => ({ ...job, alone: true })), ...this.#queue];
  }

  #abandon(): void {
    try {
      this.#rollback();
    } catch {
      // Tried again before the next BEGIN, which fails until it succeeds: nothing of this transaction can be committed.
    }
  }

  #rollback(): void {
    if (this.#db.inTransaction) this.#control.rollback();
  }

  #noted(error: unknown): Error {
    const failure = storeError(error);
    if (isOryxError(failure) && failure.code === 'ORYX_STORE_UNAVAILABLE') this.#onHealth(failure);
    return failure;
  }
}
