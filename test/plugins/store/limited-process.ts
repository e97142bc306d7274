/** A process that may not let files grow for a while; prints what became of its writes. */
import { execFileSync } from 'node:child_process';
import { openStore } from './open-store.ts';

const { store, health, close } = await openStore(process.argv[2] ?? '');
const limitFileSize = (bytes: string): void => void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}`]);
const insert = (id: number, size: number) => ({ sql: 'INSERT INTO notes VALUES (?, ?)', params: [id, 'x'.repeat(size)] });
const ids = async (): Promise<readonly number[]> =>
  (await store.all<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

await store.migrate('notes', [{ name: '001_create', up: ['CREATE TABLE notes (id INTEGER PRIMARY KEY, value TEXT)'] }]);
await store.write(insert(1, 10));
limitFileSize('100000:unlimited');
const outcomes = await Promise.allSettled([2, 3, 4].map((id) => store.write(insert(id, 60_000))));
const during = {
  codes: outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as { code?: string }).code),
  ids: await ids(),
  problem: health.problem(),
};
limitFileSize('unlimited');
await store.write(insert(5, 60_000));
const after = { ids: await ids(), problem: health.problem() ?? null, check: await store.get('PRAGMA integrity_check') };
await close();
process.stdout.write(JSON.stringify({ during, after }));
