import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { type Clock, isOryxError } from '../../kernel/index.ts';
import { backupName } from './backup-name.ts';
import type { Backups } from './contract.ts';
import { stopping, storeError } from './store-error.ts';
import { verifyCopy } from './verify-copy.ts';

/** Copies into `<root>/backups/` (0700, files 0600), one at a time; `close` refuses new ones and waits for the one under way. */
export function sqliteBackups(
  db: Database,
  root: string,
  clock: Clock,
  onWritten: (file: string, durationMs: number) => void,
): Backups & { close(): Promise<void> } {
  const directory = join(root, 'backups');
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function copy(reason: string): Promise<string> {
    if (closed) throw stopping();
    const startedAt = clock.monotonic();
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const file = join(
      directory,
      backupName(clock.now(), reason, (name) => existsSync(join(directory, name))),
    );
    const temp = `${file}.tmp`;
    try {
      await (await open(temp, 'w', 0o600)).close();
      await chmod(temp, 0o600);
      await db.backup(temp);
      await verifyCopy(temp);
      await sync(temp);
      await rename(temp, file);
      await sync(directory);
      onWritten(file, Math.round(clock.monotonic() - startedAt));
      return file;
    } catch (error) {
      await Promise.all(['', '-wal', '-shm', '-journal'].map((ending) => rm(`${temp}${ending}`, { force: true })));
      throw isOryxError(error) ? error : storeError(error);
    }
  }

  return {
    create(reason) {
      const made = last.then(() => copy(reason));
      last = made.catch(() => undefined);
      return made;
    },
    async close() {
      closed = true;
      await last;
    },
  };
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
