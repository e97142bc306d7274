/** Finds directories that were replaced so fast that the watcher still holds on to the old one, and has them watched anew. */
import { lstat } from 'node:fs/promises';
import type { Clock } from '../../kernel/index.ts';

/** chokidar ignores a second removal of the same path within 100 ms, and then takes the next directory of that name for the old one. */
const PAUSE_MS = 150;

export interface StaleWatches {
  /** A directory was seen under this path, with this inode. */
  seen(path: string, inode: number): void;
  /** The watcher itself has noticed that it has gone. */
  gone(path: string): void;
  /** Forgets everything that was to be looked at. */
  close(): void;
}

/** @param watchAnew  called for a path at which another directory stands than the one that is being watched */
export function createStaleWatches(clock: Clock, watchAnew: (path: string) => void): StaleWatches {
  const inodes = new Map<string, number>();
  const pending = new Map<string, () => void>();

  const look = async (path: string): Promise<void> => {
    pending.delete(path);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isDirectory() !== true) {
      inodes.delete(path);
      return;
    }
    inodes.set(path, stats.ino);
    watchAnew(path);
  };
  return {
    seen(path, inode) {
      const known = inodes.get(path);
      if (known === undefined) inodes.set(path, inode);
      if (known === undefined || known === inode || pending.has(path)) return;
      pending.set(
        path,
        clock.after(PAUSE_MS, () => void look(path)),
      );
    },
    gone(path) {
      inodes.delete(path);
    },
    close() {
      for (const cancel of pending.values()) cancel();
      pending.clear();
    },
  };
}
