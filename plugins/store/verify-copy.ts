import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { OryxError } from '../../kernel/index.ts';

/**
 * Runs in the worker. As text, because a worker does not inherit what makes a process read TypeScript. A copy keeps the write-ahead mode of its
 * source; without it, it is one file and needs no neighbours.
 */
const CHECK = `
const { parentPort, workerData } = require('node:worker_threads');
const Database = require(workerData.driver);
const db = new Database(workerData.file, { fileMustExist: true });
db.pragma('journal_mode = DELETE');
const found = db.pragma('integrity_check(1)', { simple: true });
db.close();
parentPort.postMessage(String(found));
`;

/**
 * Turns the copy at `file` into one self-contained file and checks all of it (`integrity_check`), in a thread of its own: the check reads
 * every page, which would hold the event loop for seconds on a large database.
 *
 * Rejects with ORYX_STORE_UNAVAILABLE when the copy is not sound.
 */
export function verifyCopy(file: string): Promise<void> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(CHECK, { eval: true, workerData: { file, driver } });
  return new Promise((resolve, reject) => {
    const refuse = (reason: string, cause?: unknown): void =>
      reject(new OryxError('ORYX_STORE_UNAVAILABLE', `The copy of the database is not sound: ${reason}.`, { cause }));
    worker.once('message', (found: string) => (found === 'ok' ? resolve() : refuse(found)));
    worker.once('error', (error) => refuse('it cannot be read', error));
    worker.once('exit', () => refuse('the check did not end'));
  });
}
