import { chmodSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OryxError } from '../../kernel/index.ts';
import { isBusy, storeError } from './store-error.ts';

/**
 * Takes the workspace for this process: an exclusive transaction on `<root>/oryxos.lock`, held until the returned function is called. The
 * operating system frees it when the process dies, however it dies.
 *
 * Throws ORYX_WORKSPACE_BUSY, naming pid, host and URL of the owner when `<root>/server.json` tells them.
 */
export function lockWorkspace(root: string): () => void {
  const file = join(root, 'oryxos.lock');
  const db = new Database(file, { timeout: 0 });
  try {
    // Nothing is ever written here, so no journal has to stand beside the file.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    chmodSync(file, 0o600);
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw storeError(error);
    throw new OryxError('ORYX_WORKSPACE_BUSY', busyMessage(root), { cause: error });
  }
  return () => void db.close();
}

function busyMessage(root: string): string {
  const owner = runningServer(root);
  const who = owner ?? 'another OryxOS process';
  return `The workspace "${root}" is in use by ${who}. Use that one, stop it, or choose another workspace with --root.`;
}

/** What `server.json` says, unless the process it names is gone: then it is a leftover and somebody else holds the lock. */
function runningServer(root: string): string | undefined {
  try {
    const { pid, host, url } = JSON.parse(readFileSync(join(root, 'server.json'), 'utf8')) as Record<string, unknown>;
    if (typeof pid !== 'number' || (host === hostname() && !isAlive(pid))) return undefined;
    return `the server with pid ${pid} on host ${String(host)}${typeof url === 'string' ? ` at ${url}` : ''}`;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
