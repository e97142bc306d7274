/** What every store must do, whatever is behind it. */
import { expect } from 'chai';
import { isOryxError, type Statement, type Store } from '../../kernel/index.ts';

/** A store to try, and how to get rid of it. */
export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

const insert = (id: string, value: string | null = 'v'): Statement => ({
  sql: 'INSERT INTO notes (id, value) VALUES (?, ?)',
  params: [id, value],
});
const TABLES = [
  'CREATE TABLE notes (id TEXT PRIMARY KEY, value TEXT NOT NULL)',
  'CREATE TABLE tags (id INTEGER PRIMARY KEY, note TEXT NOT NULL REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)',
];

/** The error that `work` was rejected with. */
export async function rejection(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.then(
    () => undefined,
    (error: Error) => error,
  );
  if (outcome === undefined) throw new Error('nothing was rejected');
  return outcome;
}

/** The code of the OryxError that `work` was rejected with, or the name of another error. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  return isOryxError(error) ? error.code : error.name;
}

/** Registers the battery; `open` gives a store without tables, over a database of its own. */
export function storeContract(open: () => Promise<OpenStore>): void {
  describe('as a store', () => {
    let opened: OpenStore;
    let store: Store;
    const ids = async (): Promise<readonly string[]> =>
      (await store.all<{ id: string }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      await store.migrate('notes', [{ name: '001_create_notes', up: TABLES }]);
    });
    afterEach(() => opened.close());

    it('answers what it was told', async () => {
      const results = await store.write(insert('a', 'one'), insert('b', 'two'));
      expect(results.map(({ changes }) => changes)).to.deep.equal([1, 1]);
      expect(await store.get('SELECT value FROM notes WHERE id = ?', 'b')).to.deep.equal({ value: 'two' });
      expect(await store.get('SELECT value FROM notes WHERE id = ?', 'c')).to.equal(undefined);
      expect(await ids()).to.deep.equal(['a', 'b']);
    });

    it('tells rowid and number of changes of each statement', async () => {
      await store.write(insert('a'), insert('b'));
      const [tag, update, none] = await store.write(
        { sql: 'INSERT INTO tags (id, note) VALUES (?, ?)', params: [41, 'a'] },
        { sql: 'UPDATE notes SET value = ?', params: ['w'] },
        { sql: 'DELETE FROM notes WHERE id = ?', params: ['zzz'] },
      );
      expect(tag).to.deep.include({ changes: 1, lastInsertRowid: 41 });
      expect(update?.changes).to.equal(2);
      expect(none?.changes).to.equal(0);
    });

    it('keeps text, numbers, big integers, bytes and null as they are', async () => {
      const row = await store.get(
        'SELECT ? AS text, ? AS number, ? AS big, ? AS bytes, ? AS none',
        'grüße 你好',
        1.5,
        9_007_199_254_740_991n,
        new Uint8Array([0, 255]),
        null,
      );
      const { bytes, ...others } = row as { bytes: Uint8Array };
      expect(others).to.deep.equal({ text: 'grüße 你好', number: 1.5, big: 9_007_199_254_740_991, none: null });
      expect([...bytes]).to.deep.equal([0, 255]);
    });

    it('does all of a list or nothing', async () => {
      expect(await codeOf(store.write(insert('a'), insert('b', null)))).to.equal('ORYX_STORE_CONSTRAINT');
      expect(await ids()).to.deep.equal([]);
    });

    it('lets a bad list fail alone among its neighbours', async () => {
      await store.write(insert('taken'));
      const outcomes = await Promise.allSettled([
        store.write(insert('a')),
        store.write(insert('b'), insert('taken')),
        store.write(insert('c')),
        store.write({ sql: 'UPDATE notes SET value = ? WHERE id = ?', params: ['w', 'missing'], expect: 1 }, insert('d')),
        store.write(insert('e')),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
      expect(await ids()).to.deep.equal(['a', 'c', 'e', 'taken']);
    });

    it('lets a list fail alone that breaks a deferred constraint', async () => {
      const outcomes = await Promise.allSettled([
        store.write(insert('a')),
        store.write({ sql: 'INSERT INTO tags (note) VALUES (?)', params: ['missing'] }),
        store.write(insert('b')),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(await ids()).to.deep.equal(['a', 'b']);
      expect(await store.all('SELECT * FROM tags')).to.deep.equal([]);
    });

    it('undoes a list with an unmet expectation and calls it a conflict', async () => {
      await store.write(insert('a', 'old'));
      const update = { sql: 'UPDATE notes SET value = ? WHERE id = ? AND value = ?', params: ['new', 'a', 'old'], expect: 1 };
      await store.write(update);
      expect(await codeOf(store.write(insert('b'), update))).to.equal('ORYX_STORE_CONFLICT');
      expect(await ids()).to.deep.equal(['a']);
    });

    it('lets one of two win who want the same', async () => {
      await store.write(insert('slot', 'free'));
      const take = (who: string): Promise<unknown> =>
        store.write({ sql: 'UPDATE notes SET value = ? WHERE id = ? AND value = ?', params: [who, 'slot', 'free'], expect: 1 });
      const outcomes = await Promise.allSettled([take('x'), take('y')]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
      expect(await store.get('SELECT value FROM notes')).to.deep.equal({ value: 'x' });
    });

    it('applies lists in the order in which they came', async () => {
      await store.write(insert('a', ''));
      const append = (text: string): Promise<unknown> => store.write({ sql: 'UPDATE notes SET value = value || ?', params: [text] });
      await Promise.all('abcdefgh'.split('').map(append));
      expect(await store.get('SELECT value FROM notes')).to.deep.equal({ value: 'abcdefgh' });
    });

    it('shows committed data only', async () => {
      const written = store.write(insert('a'));
      expect(await ids()).to.deep.equal([]);
      await written;
      expect(await ids()).to.deep.equal(['a']);
    });

    it('accepts an empty list', async () => {
      expect(await store.write()).to.deep.equal([]);
    });

    it('names the statement when a value cannot be stored', async () => {
      for (const value of [true, undefined, {}, Number.NaN, new Date(0)]) {
        const error = await rejection(store.write({ sql: 'INSERT INTO notes VALUES (?, ?)', params: ['a', value as unknown as string] }));
        expect(error, typeof value).to.be.instanceOf(TypeError);
        expect(error.message)
          .to.include('INSERT INTO notes')
          .and.match(/parameter 2 /);
      }
      expect((await rejection(store.get('SELECT ?', true as unknown as number))).message).to.include('SELECT ?');
      expect(await ids()).to.deep.equal([]);
    });

    it('names the statement that is wrong, and goes on', async () => {
      const wrong = store.write({ sql: 'INSERT INTO nowhere VALUES (1)', params: [] });
      const right = store.write(insert('a'));
      expect((await rejection(wrong)).message).to.include('INSERT INTO nowhere');
      await right;
      expect((await rejection(store.all('SELEC 1'))).message).to.include('SELEC 1');
      expect((await rejection(store.write({ sql: 'INSERT INTO notes VALUES (?, ?)', params: ['x'] }))).message).to.include(
        'INSERT INTO notes',
      );
      expect(await ids()).to.deep.equal(['a']);
    });

    it('refuses transaction control and reads that write', async () => {
      for (const sql of ['COMMIT', ' begin', 'ROLLBACK', 'SAVEPOINT x', "ATTACH 'x' AS y", 'VACUUM']) {
        expect(await codeOf(store.write(insert('a'), { sql, params: [] })), sql).to.equal('TypeError');
      }
      expect(await codeOf(store.get("INSERT INTO notes VALUES ('a', 'b') RETURNING id"))).to.equal('TypeError');
      expect(await ids()).to.deep.equal([]);
    });

    it('applies migrations once, in order, each owner by itself', async () => {
      const first = { name: '001_create', up: ['CREATE TABLE things (id TEXT)', "INSERT INTO things VALUES ('one')"] };
      const second = { name: '002_fill', up: ["INSERT INTO things VALUES ('two')"] };
      await store.migrate('things', [first]);
      await store.migrate('things', [first, second]);
      await Promise.all([
        store.migrate('things', [first, second]),
        store.migrate('others', [{ name: '001_create', up: ['CREATE TABLE others (id)'] }]),
      ]);
      expect(await store.all('SELECT id FROM things')).to.deep.equal([{ id: 'one' }, { id: 'two' }]);
    });

    it('applies a migration whole or not at all, and names it', async () => {
      const good = { name: '001_create', up: ['CREATE TABLE things (id TEXT)'] };
      const bad = { name: '002_break', up: ['CREATE TABLE more (id TEXT)', 'CREATE TABLE things (id TEXT)'] };
      const error = await rejection(store.migrate('things', [good, bad]));
      expect(error.message).to.include('002_break').and.to.include('things');
      expect(await codeOf(store.all('SELECT * FROM more'))).to.equal('TypeError');
      expect(await store.all('SELECT * FROM things')).to.deep.equal([]);
      await store.migrate('things', [good, { name: '002_break', up: ['CREATE TABLE more (id TEXT)'] }]);
      expect(await store.all('SELECT * FROM more')).to.deep.equal([]);
    });

    it('refuses a database that a newer build has migrated', async () => {
      const error = await rejection(store.migrate('notes', []));
      expect(isOryxError(error) && error.code).to.equal('ORYX_STORE_NEWER');
      expect(error.message).to.include('001_create_notes').and.to.include('restore a backup');
    });

    it('refuses a migration that was changed after it had been applied', async () => {
      const error = await rejection(store.migrate('notes', [{ name: '001_create_notes', up: ['CREATE TABLE other (id)'] }]));
      expect(isOryxError(error) && error.code).to.equal('ORYX_STORE_NEWER');
      expect(error.message).to.include('changed').and.to.include('001_create_notes');
    });

    it('refuses a migration that comes before one that has been applied', async () => {
      const migrations = [
        { name: '000_earlier', up: [] },
        { name: '001_create_notes', up: TABLES },
      ];
      expect(await codeOf(store.migrate('notes', migrations))).to.equal('ORYX_STORE_NEWER');
    });

    it('refuses everything once it is closed', async () => {
      const queued = store.write(insert('a'));
      await opened.close();
      await queued;
      expect(await codeOf(store.write(insert('b')))).to.equal('ORYX_STOPPING');
      expect(await codeOf(store.get('SELECT 1'))).to.equal('ORYX_STOPPING');
      expect(await codeOf(store.migrate('x', [{ name: '001', up: [] }]))).to.equal('ORYX_STOPPING');
    });
  });
}
