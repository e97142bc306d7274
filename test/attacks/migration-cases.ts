/** Databases of older and of newer builds. */
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from '../durable/crash-checks.ts';
import { request } from '../harness/http-client.ts';
import { until } from '../harness/until.ts';
import { openStore } from '../plugins/store/open-store.ts';
import type { RunCase } from './corpus.ts';
import { expectSound } from './crash-cases.ts';
import { holds } from './holds.ts';
import { killedProgram, makeHome, refusedProgram, startProgram } from './program.ts';

/** What an old build has left: a database with data in it and without any table of this build. */
async function makeOld(root: string): Promise<void> {
  const { store, close } = await openStore(root);
  await store.migrate('ancient', [{ name: '001_create', up: ['CREATE TABLE ancient_notes (id INTEGER PRIMARY KEY, text TEXT)'] }]);
  await store.write(
    ...Array.from({ length: 2_000 }, (_, id) => ({ sql: 'INSERT INTO ancient_notes VALUES (?, ?)', params: [id, 'x'.repeat(500)] })),
  );
  await close();
}

/** How many migrations this build has applied to a database by now; 0 while there is none to look at. */
function applied(root: string): number {
  try {
    const db = new Database(join(root, 'oryxos.db'), { readonly: true });
    try {
      return (db.prepare('SELECT count(*) AS count FROM schema_migrations').get() as { count: number }).count;
    } finally {
      db.close();
    }
  } catch {
    return 0;
  }
}

/** Killed a little later each time, from the moment at which the copy is begun to the one at which the server listens. */
const killed = (rounds: number): RunCase =>
  holds(async () => {
    await using home = await makeHome('http://127.0.0.1:9/v1', []);
    await makeOld(home.root);
    const old = join(home.home, 'old');
    for (const name of readdirSync(home.root).filter((each) => each.startsWith('oryxos.db')))
      cpSync(join(home.root, name), join(old, name));
    const begun = (): Promise<unknown> => until('migrations', () => existsSync(join(home.root, 'backups')), 20_000);
    const since = begun().then(() => performance.now());
    await using whole = await startProgram(home);
    const durationMs = performance.now() - (await since);
    await whole.stop('SIGKILL');
    const seen = new Set<number>();
    for (let round = 0; round < rounds; round += 1) {
      for (const name of readdirSync(home.root).filter((each) => each.startsWith('oryxos.db') || each === 'backups'))
        rmSync(join(home.root, name), { recursive: true });
      rmSync(join(home.root, 'server.json'), { force: true });
      cpSync(old, home.root, { recursive: true });
      await killedProgram(home, async () => {
        await begun();
        await new Promise((resolve) => setTimeout(resolve, (durationMs * round) / rounds));
      });
      rmSync(join(home.root, 'server.json'), { force: true });
      seen.add(applied(home.root));
      expectSound(home);
      await using program = await startProgram(home);
      await idle(program.url);
      expectSound(home);
      expect((await request(program.url, 'GET', '/api/v1/sessions')).status).to.equal(200);
      const copies = readdirSync(join(home.root, 'backups')).filter((name) => name.endsWith('before-migration.db'));
      expect(copies, 'copies from before the migration').to.not.deep.equal([]);
      const copy = new Database(join(home.root, 'backups', copies.sort()[0] ?? ''), { readonly: true });
      expect(copy.prepare("SELECT count(*) AS count FROM sqlite_master WHERE name = 'turns'").get()).to.deep.equal({ count: 0 });
      expect(copy.prepare('SELECT count(*) AS count FROM ancient_notes').get()).to.deep.equal({ count: 2_000 });
      copy.close();
    }
    if (rounds > 10) expect(seen.size, 'different moments').to.be.greaterThan(3);
    const db = new Database(join(home.root, 'oryxos.db'));
    db.prepare("UPDATE schema_migrations SET name = '999_from_the_future' WHERE owner = 'engine' AND name LIKE '001%'").run();
    db.close();
    const size = statSync(join(home.root, 'oryxos.db')).size;
    const { code, output } = await refusedProgram(home);
    expect(code).to.equal(1);
    expect(output).to.include('newer build').and.include('999_from_the_future');
    expect(statSync(join(home.root, 'oryxos.db')).size).to.equal(size);
  });

/** Migrations that are cut off, and databases of a newer build. */
export const migrationCases = (full: boolean): Readonly<Record<string, RunCase>> => ({ 'durable-migration-kill': killed(full ? 30 : 1) });
