import { chmod, mkdir, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { nativeModuleError } from '../../../plugins/store/native-module.ts';
import { codeOf, rejection } from '../../contract/store.ts';
import { fakeClock } from '../../harness/fake-clock.ts';
import { until } from '../../harness/until.ts';
import { openStore, type StoreHost, temporaryRoot } from './open-store.ts';

const TABLE = [{ name: '001_create', up: ['CREATE TABLE notes (id TEXT PRIMARY KEY, value TEXT)'] }];
const insert = (id: string, value = 'v') => ({ sql: 'INSERT INTO notes VALUES (?, ?)', params: [id, value] });

describe('store in trouble', () => {
  let root: string;
  let remove: () => Promise<void>;
  let host: StoreHost | undefined;
  const open = async (...args: [] | [Parameters<typeof openStore>[1]]): Promise<StoreHost> => {
    host = await openStore(root, ...args);
    await host.store.migrate('notes', TABLE);
    return host;
  };
  const close = async (): Promise<void> => {
    await host?.close();
    host = undefined;
  };
  /** A database with some rows that was closed in order. */
  const filled = async (): Promise<string> => {
    const { store } = await open();
    await store.write(...Array.from({ length: 200 }, (_, index) => insert(`id-${index}`, 'text '.repeat(100))));
    await close();
    return join(root, 'oryxos.db');
  };
  const ids = async (opened: StoreHost): Promise<readonly string[]> =>
    (await opened.store.all<{ id: string }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

  beforeEach(async () => void ({ root, remove } = await temporaryRoot()));
  afterEach(async () => {
    await close();
    await remove();
  });

  describe('the workspace lock', () => {
    it('names pid, host and URL of the server that has the workspace', async () => {
      await open();
      const owner = { pid: process.pid, host: hostname(), url: 'http://127.0.0.1:8080' };
      await writeFile(join(root, 'server.json'), JSON.stringify(owner));
      const error = await rejection(openStore(root));
      expect(error).to.have.property('code', 'ORYX_WORKSPACE_BUSY');
      expect(error.message).to.include(String(owner.pid)).and.include(owner.host).and.include(owner.url);
    });

    it('does not name a server that is gone', async () => {
      await open();
      for (const text of [JSON.stringify({ pid: 4_194_303, host: hostname(), url: 'http://127.0.0.1:1' }), '{', '[]', 'null']) {
        await writeFile(join(root, 'server.json'), text);
        const { message } = await rejection(openStore(root));
        expect(message).to.include('another OryxOS process').and.not.include('4194303');
      }
    });

    it('is not lost by a refused attempt, and is free after closing', async () => {
      await open();
      for (let attempt = 0; attempt < 3; attempt += 1) expect(await codeOf(openStore(root))).to.equal('ORYX_WORKSPACE_BUSY');
      await close();
      await open();
    });
  });

  describe('the files', () => {
    it('are readable by their owner only', async () => {
      const { backups } = await open();
      await backups.create('test');
      const modes = await Promise.all(
        ['oryxos.db', 'oryxos.db-wal', 'oryxos.db-shm', 'oryxos.lock'].map(async (name) => (await stat(join(root, name))).mode & 0o777),
      );
      expect(modes).to.deep.equal([0o600, 0o600, 0o600, 0o600]);
      expect(await readdir(root)).to.not.include('oryxos.lock-journal');
      expect((await stat(join(root, 'backups'))).mode & 0o777).to.equal(0o700);
      for (const name of await readdir(join(root, 'backups')))
        expect((await stat(join(root, 'backups', name))).mode & 0o777).to.equal(0o600);
    });

    it('are closed to others again when somebody had opened them', async () => {
      await chmod(await filled(), 0o644);
      await open();
      expect((await stat(join(root, 'oryxos.db'))).mode & 0o777).to.equal(0o600);
    });

    it('hold nothing that was deleted', async () => {
      const { store } = await open();
      await store.write(insert('a', 'do-not-keep-this'));
      await store.write({ sql: 'DELETE FROM notes', params: [] });
      await close();
      expect((await readFile(join(root, 'oryxos.db'))).includes('do-not-keep-this')).to.equal(false);
    });

    it('are opened with full durability and foreign keys', async () => {
      const { store } = await open();
      expect(await store.get('PRAGMA synchronous')).to.deep.equal({ synchronous: 2 });
      expect(await store.get('PRAGMA foreign_keys')).to.deep.equal({ foreign_keys: 1 });
      expect(await store.get('PRAGMA secure_delete')).to.deep.equal({ secure_delete: 1 });
    });
  });

  describe('a database that cannot be used', () => {
    const refused = async (): Promise<string> => {
      const error = await rejection(openStore(root));
      expect(error).to.have.property('code', 'ORYX_STORE_UNAVAILABLE');
      return error.message;
    };

    it('is refused when it was cut in half, and left as it is', async () => {
      const file = await filled();
      await truncate(file, (await stat(file)).size / 2);
      const before = await readFile(file);
      expect(await refused())
        .to.include('damaged')
        .and.include('a backup of yours');
      expect((await readFile(file)).equals(before)).to.equal(true);
    });

    it('is refused when a page is damaged, and the newest backup is named', async () => {
      const { backups } = await open();
      await backups.create('one');
      const newest = await backups.create('two');
      await close();
      const file = await filled();
      const bytes = await readFile(file);
      for (const page of [3, 5, 7]) bytes.fill(0xa5, page * 4096, page * 4096 + 64);
      await writeFile(file, bytes);
      expect(await refused()).to.include(`backups/${newest.split('/').at(-1)}`);
    });

    it('is refused when it is text', async () => {
      await writeFile(await filled(), 'this is no database, '.repeat(100));
      expect(await refused()).to.include('not a database');
    });

    it('is refused when it is empty beside agents', async () => {
      const file = await filled();
      await mkdir(join(root, 'agents/default'), { recursive: true });
      await writeFile(join(root, 'agents/default/AGENT.md'), '---\nname: default\n---\n');
      await truncate(file, 0);
      expect(await refused())
        .to.include('oryxos.db is empty')
        .and.include('Move oryxos.db');
      expect((await stat(file)).size).to.equal(0);
    });

    it('is made anew when it is empty and there are no agents', async () => {
      await truncate(await filled(), 0);
      expect(await ids(await open())).to.deep.equal([]);
    });

    it('is refused when only its log is there', async () => {
      const file = await filled();
      await writeFile(`${file}-wal`, 'left over');
      await rm(file);
      expect(await refused()).to.include('oryxos.db-wal');
      expect(existsSync(file)).to.equal(false);
    });

    it('is refused while another program holds it', async () => {
      const other = new Database(await filled());
      other.pragma('locking_mode = EXCLUSIVE');
      other.exec("BEGIN EXCLUSIVE; INSERT INTO notes VALUES ('x', 'y')");
      expect(await refused()).to.include('in use by another program');
      other.close();
    });

    it('leaves the workspace free for the next attempt', async () => {
      const file = await filled();
      const good = await readFile(file);
      await writeFile(file, 'no database '.repeat(1_000));
      await refused();
      await writeFile(file, good);
      expect(await ids(await open())).to.have.length(200);
    });
  });

  describe('a full disk', () => {
    const fill = async ({ store }: StoreHost): Promise<void> => {
      const { page_count: pages = 0 } = (await store.get<{ page_count: number }>('PRAGMA page_count')) ?? {};
      await store.get(`PRAGMA max_page_count = ${pages + 2}`);
    };
    const free = ({ store }: StoreHost): Promise<unknown> => store.get('PRAGMA max_page_count = 1000000');

    it('refuses what does not fit, stores its neighbours, and goes on when there is space', async () => {
      const opened = await open();
      await fill(opened);
      const outcomes = await Promise.allSettled([
        opened.store.write(insert('before')),
        opened.store.write(insert('small'), insert('big', 'x'.repeat(100_000))),
        opened.store.write(insert('after')),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(await ids(opened)).to.deep.equal(['after', 'before']);

      const error = await rejection(opened.store.write(insert('big', 'x'.repeat(100_000))));
      expect(error).to.have.property('code', 'ORYX_STORE_UNAVAILABLE');
      expect(error.message).to.include('disk is full');
      expect(opened.health.problem()).to.include('disk is full');

      await free(opened);
      await opened.store.write(insert('big', 'x'.repeat(100_000)));
      expect(opened.health.problem()).to.equal(undefined);
      expect(await ids(opened)).to.deep.equal(['after', 'before', 'big']);
      expect(await opened.store.get('PRAGMA integrity_check')).to.deep.equal({ integrity_check: 'ok' });
      const levels = opened.log.lines.filter(({ plugin }) => plugin === 'store').map(({ level }) => level);
      expect(levels).to.include.members(['error', 'info']);
    });

    it('answers reads meanwhile', async () => {
      const opened = await open();
      await opened.store.write(insert('a'));
      await fill(opened);
      await rejection(opened.store.write(insert('big', 'x'.repeat(100_000))));
      expect(await ids(opened)).to.deep.equal(['a']);
    });
  });

  describe('a database that another program has locked', () => {
    let other: Database.Database;
    beforeEach(async () => {
      other = new Database(await filled());
    });
    afterEach(() => void other.close());

    it('is waited for without blocking, in order', async () => {
      const clock = fakeClock();
      const opened = await open(clock);
      other.exec('BEGIN IMMEDIATE');
      const writes = Promise.all([
        opened.store.write(insert('a')),
        opened.store.write({ sql: "UPDATE notes SET value = 'w' WHERE id = 'a'", params: [], expect: 1 }),
      ]);
      await until('a first attempt', () => clock.pending > 0);
      expect(await ids(opened)).to.have.length(200);
      other.exec('COMMIT');
      await clock.tick(1_000);
      await writes;
      expect(await opened.store.get("SELECT value FROM notes WHERE id = 'a'")).to.deep.equal({ value: 'w' });
    });

    it('is given up after five seconds, with nothing stored, and tried again by later writes', async function () {
      this.timeout(20_000);
      const clock = fakeClock();
      const opened = await open(clock);
      other.exec('BEGIN IMMEDIATE');
      let failure: Promise<Error> | Error = rejection(opened.store.write(insert('a')));
      void failure.then((error) => (failure = error));
      await until(
        'the write to be given up',
        async () => {
          await clock.tick(100);
          return failure instanceof Error;
        },
        15_000,
      );
      expect(failure).to.have.property('code', 'ORYX_STORE_UNAVAILABLE');
      expect((await failure).message).to.include('another program');
      expect(clock.monotonic()).to.be.within(5_000, 6_000);
      other.exec('COMMIT');
      await opened.store.write(insert('b'));
      expect(await ids(opened))
        .to.include('b')
        .and.not.include('a');
    });
  });

  describe('native module', () => {
    it('is explained with both Node versions and the command that repairs it', () => {
      const text =
        "The module 'x.node' was compiled against a different Node.js version using\nNODE_MODULE_VERSION 108. This version of Node.js requires\nNODE_MODULE_VERSION 115.";
      const error = nativeModuleError(Object.assign(new Error(text), { code: 'ERR_DLOPEN_FAILED' }));
      expect(error?.message).to.include('Node 18').and.include(process.versions.node).and.include('npm rebuild better-sqlite3');
      expect(error?.message).not.to.include('x.node');
    });

    it('is explained when it is missing', () => {
      expect(nativeModuleError(new Error('Could not locate the bindings file. Tried: …'))?.message).to.include(
        'npm rebuild better-sqlite3',
      );
    });

    it('is not blamed for anything else', () => {
      expect(nativeModuleError(new Error('disk on fire'))).to.equal(undefined);
    });
  });
});
