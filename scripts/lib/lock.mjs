/**
 * One set-up at a time in a checkout. The lock is a directory that holds one file with its owner; it is put in place by a rename, so that
 * nobody ever sees it without its owner.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const MAX_AGE_MS = 30 * 60_000;

/**
 * Runs `work` while holding the lock. Waits for a living owner; takes the lock of a dead one.
 *
 * @template T
 * @param {string} directory where the lock is
 * @param {() => Promise<T>} work
 * @param {(owner: { pid: number }) => void} [onWait] called once when somebody else is at work
 * @returns {Promise<T>}
 */
export async function withLock(directory, work, onWait = () => {}) {
  const token = await acquire(directory, onWait);
  const release = () => {
    if (ownerOf(directory)?.token === token) remove(directory, token);
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire(directory, onWait) {
  const token = randomBytes(8).toString('hex');
  let waited = false;
  for (;;) {
    if (tryToTake(directory, token)) return token;
    const owner = ownerOf(directory);
    if (owner !== undefined && isStale(owner)) {
      removeStale(directory, owner.token);
      continue;
    }
    if (owner !== undefined && !waited) {
      waited = true;
      onWait(owner);
    }
    await sleep(POLL_MS);
  }
}

function tryToTake(directory, token) {
  const prepared = `${directory}.${token}`;
  mkdirSync(dirname(directory), { recursive: true });
  mkdirSync(prepared);
  writeFileSync(join(prepared, 'owner.json'), JSON.stringify({ token, pid: process.pid, host: hostname(), since: Date.now() }));
  try {
    // A rename onto a directory that is not empty fails: the system lets exactly one through.
    renameSync(prepared, directory);
    return true;
  } catch (error) {
    rmSync(prepared, { recursive: true, force: true });
    if (['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) return false;
    throw error;
  }
}

/** @returns {{ token: string, pid: number, host: string, since: number } | undefined} */
export function ownerOf(directory) {
  try {
    return JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether the owner of a lock is gone: its process is dead, or the lock is older than any set-up takes. */
export function isStale(owner) {
  if (Date.now() - owner.since > MAX_AGE_MS) return true;
  if (owner.host !== hostname()) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Of several that see the same dead owner one removes its lock: whoever makes the directory that carries the dead owner's token. */
function removeStale(directory, token) {
  const claim = `${directory}.stale-${token}`;
  try {
    mkdirSync(claim);
  } catch {
    if (Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? 0) > POLL_MS * 50)
      rmSync(claim, { recursive: true, force: true });
    return;
  }
  try {
    if (ownerOf(directory)?.token === token) remove(directory, token);
  } finally {
    rmSync(claim, { recursive: true, force: true });
  }
}

/** Moves the lock away before it is deleted: half deleted, it would be an empty directory that another process can take. */
function remove(directory, token) {
  const away = `${directory}.gone-${token}`;
  renameSync(directory, away);
  rmSync(away, { recursive: true, force: true });
}
