import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../kernel/index.ts';
import { stopping } from './store-error.ts';

/**
 * Runs in the worker. As text, because a worker does not inherit what makes a process read TypeScript. A copy keeps the write-ahead mode of its
 * source; without it, it is one file and needs no neighbours.
 */
const CHECK = `
const { parentPort, workerData } = require('node:worker_threads');
const Database = require(workerData.driver);
const db = new Database(workerData.file, { fileMustExist: true, readonly: workerData.depth === 'quick' });
if (workerData.depth === 'full') db.pragma('journal_mode = DELETE');
const found = db.pragma(workerData.depth === 'full' ? 'integrity_check(1)' : 'quick_check(1)', { simple: true });
db.close();
parentPort.postMessage(String(found));
`;

/**
 * Reads every page of a database in a thread of its own; on a large one that would hold the event loop for seconds. `quick` changes nothing
 * and may be done while others write; `full` (indexes too) also makes the file self-contained and is for copies.
 *
 * Resolves with what is wrong, undefined when it is sound. Rejects with ORYX_STOPPING when `signal` aborts.
 */
export function checkFile(file: string, depth: 'quick' | 'full', signal?: AbortSignal): Promise<string | undefined> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(CHECK, { eval: true, workerData: { file, driver, depth } });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop, { once: true });
  return new Promise<string | undefined>((resolve, reject) => {
    worker.once('message', (found: string) => resolve(found === 'ok' ? undefined : found));
    worker.once('error', (error) => resolve(`it cannot be read: ${messageOf(error)}`));
    worker.once('exit', () => (signal?.aborted ? reject(stopping()) : resolve('the check did not end')));
  }).finally(() => signal?.removeEventListener('abort', stop));
}
