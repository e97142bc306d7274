/** A process of its own that writes pairs of rows and prints the number of each pair once it is acknowledged; the test kills it. */
import { openStore } from './open-store.ts';

const [root = '', first = '0'] = process.argv.slice(2);
const { store } = await openStore(root);
await store.migrate('pairs', [{ name: '001_create', up: ['CREATE TABLE halves (pair INTEGER, half TEXT, PRIMARY KEY (pair, half))'] }]);

const write = async (pair: number): Promise<void> => {
  const sql = 'INSERT INTO halves VALUES (?, ?)';
  await store.write({ sql, params: [pair, 'left'] }, { sql, params: [pair, 'right'] });
  process.stdout.write(`${pair}\n`);
};
// Several writers at once, so that commits hold more than one list.
let next = Number(first);
await Promise.all(
  [1, 2, 3, 4].map(async () => {
    for (;;) await write((next += 1));
  }),
);
