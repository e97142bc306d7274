import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { codeOf, rejection } from '../../contract/store.ts';
import { openStore, type StoreHost, temporaryRoot } from './open-store.ts';

const FIRST = { name: '001_create', up: ['CREATE TABLE notes (id INTEGER PRIMARY KEY, value TEXT)'] };
const SECOND = { name: '002_index', up: ['CREATE INDEX notes_value ON notes (value)'] };
const insert = (id: number) => ({ sql: 'INSERT INTO notes VALUES (?, ?)', params: [id, 'x'.repeat(500)] });

describe('backups', () => {
  let root: string;
  let remove: () => Promise<void>;
  let host: StoreHost;
  const reopen = async (): Promise<StoreHost> => {
    await host.close();
    return (host = await openStore(root));
  };
  const names = (): Promise<string[]> => readdir(join(root, 'backups')).catch(() => []);
  const rowsIn = (file: string): unknown => {
    const copy = new Database(file, { readonly: true });
    const rows = copy.prepare('SELECT count(*) FROM notes').pluck().get();
    copy.close();
    return rows;
  };

  beforeEach(async () => {
    ({ root, remove } = await temporaryRoot());
    host = await openStore(root);
    await host.store.migrate('notes', [FIRST]);
  });
  afterEach(async () => {
    await host.close();
    await remove();
  });

  it('are one file each, complete and sound, named by time and reason', async () => {
    await host.store.write(...Array.from({ length: 2_000 }, (_, id) => insert(id)));
    const file = await host.backups.create('Before: the Big change!');
    expect(file).to.match(/backups\/\d{8}T\d{9}Z-before-the-big-change\.db$/);
    expect(await names()).to.deep.equal([file.split('/').at(-1)]);
    expect(rowsIn(file)).to.equal(2_000);
  });

  it('let writers go on meanwhile', async () => {
    await host.store.write(...Array.from({ length: 5_000 }, (_, id) => insert(id)));
    const backup = host.backups.create('test');
    let written = 5_000;
    const state = { done: false };
    void backup.finally(() => (state.done = true));
    while (!state.done) await host.store.write(insert((written += 1)));
    expect(written).to.be.greaterThan(5_000);
    expect(rowsIn(await backup)).to.be.within(5_000, written);
  });

  it('do not overwrite each other', async () => {
    const files = await Promise.all(['a', 'a', 'a'].map((reason) => host.backups.create(reason)));
    expect(new Set(files).size).to.equal(3);
  });

  it('are waited for when the store closes, and refused afterwards', async () => {
    const { backups } = host;
    const file = backups.create('last');
    await host.close();
    expect(rowsIn(await file)).to.equal(0);
    expect(await codeOf(backups.create('late'))).to.equal('ORYX_STOPPING');
  });

  it('are not made for a new database, nor when there is nothing to migrate', async () => {
    await host.store.migrate(
      'others',
      [FIRST].map(({ name }) => ({ name, up: ['CREATE TABLE others (id)'] })),
    );
    await reopen();
    await host.store.migrate('notes', [FIRST]);
    expect(await names()).to.deep.equal([]);
  });

  it('are made once before migrations change a database that has data', async () => {
    await host.store.write(insert(1));
    await reopen();
    await host.store.migrate('notes', [FIRST, SECOND]);
    await host.store.migrate('others', [{ name: '001_create', up: ['CREATE TABLE others (id)'] }]);
    const [name = '', ...more] = await names();
    expect(name).to.match(/-before-migration\.db$/);
    expect(more).to.deep.equal([]);
    expect(rowsIn(join(root, 'backups', name))).to.equal(1);
  });

  it('stop the migration when they cannot be made', async () => {
    await host.store.write(insert(1));
    await reopen();
    await host.backups.create('makes the directory');
    await rm(join(root, 'backups'), { recursive: true });
    await writeFile(join(root, 'backups'), 'in the way');
    await rejection(host.store.migrate('notes', [FIRST, SECOND]));
    expect(await host.store.all("SELECT name FROM sqlite_master WHERE type = 'index' AND name = 'notes_value'")).to.deep.equal([]);
  });

  it('open as a store of their own', async () => {
    await host.store.write(insert(7));
    const file = await host.backups.create('copy');
    await host.close();
    const other = await temporaryRoot();
    await mkdir(other.root, { recursive: true });
    await copyFile(file, join(other.root, 'oryxos.db'));
    const restored = await openStore(other.root);
    await restored.store.migrate('notes', [FIRST]);
    expect(await restored.store.all('SELECT id FROM notes')).to.deep.equal([{ id: 7 }]);
    await restored.close();
    await other.remove();
  });
});

describe('group commit', () => {
  it('commits what one turn of the event loop has queued at once', async () => {
    const { root, remove } = await temporaryRoot();
    const host = await openStore(root);
    await host.store.migrate('notes', [FIRST]);
    const other = new Database(join(root, 'oryxos.db'));
    const framesInLog = (): number => (other.pragma('wal_checkpoint(PASSIVE)') as readonly { log: number }[])[0]?.log ?? 0;
    other.pragma('wal_checkpoint(RESTART)');
    await Promise.all(
      Array.from({ length: 100 }, (_, id) => host.store.write({ sql: 'INSERT INTO notes VALUES (?, ?)', params: [id, ''] })),
    );
    // Each commit writes at least one page, and these hundred rows fit in one.
    expect(framesInLog()).to.be.lessThan(10);
    other.close();
    await host.close();
    await remove();
  });
});
