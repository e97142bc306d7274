/** Finds directories that were replaced so fast that the watcher still holds on to the old one, and has them watched anew. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { Clock } from '../../kernel/index.ts';

/** chokidar ignores a second removal of the same path within 100 ms, and then takes the next directory of that name for the old one. */
const PAUSE_MS = 150;

/** What is known of watched directories. */
export interface StaleWatches {
  /** A directory was seen under this path. */
  seen(path: string, stats: Stats): void;
  /** The watcher itself has noticed that the directory has gone. */
  gone(path: string): void;
  /** Forgets what was to be looked at. */
  close(): void;
}

/** @param watchAnew  called for a path at which another directory stands than the one that is being watched */
export function createStaleWatches(clock: Clock, watchAnew: (path: string) => void): StaleWatches {
  const watched = new Map<string, string>();
  const pending = new Map<string, () => void>();

  const look = async (path: string): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    if (!pending.delete(path)) return;
    watched.delete(path);
    if (stats?.isDirectory() !== true) return;
    watched.set(path, identityOf(stats));
    watchAnew(path);
  };
  return {
    seen(path, stats) {
      const identity = identityOf(stats);
      const known = watched.get(path);
      if (known === undefined) watched.set(path, identity);
      if (known === undefined || known === identity || pending.has(path)) return;
      pending.set(
        path,
        clock.after(PAUSE_MS, () => void look(path)),
      );
    },
    gone(path) {
      watched.delete(path);
    },
    close() {
      for (const cancel of pending.values()) cancel();
      pending.clear();
    },
  };
}

/** File systems give a freed inode number to the next directory, so its time of birth counts too. */
const identityOf = ({ ino, birthtimeMs }: Stats): string => `${ino}:${birthtimeMs}`;
