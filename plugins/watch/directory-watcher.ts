/** chokidar, made to tell every change. */
import { basename, join, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import type { Clock } from '../../kernel/index.ts';
import type { WatchRequest } from './contract.ts';
import { createStaleWatches } from './stale-watches.ts';

const POLL_INTERVAL_MS = 100;

/** How to watch, and whom to tell of trouble. */
export interface DirectoryWatcherOptions {
  readonly polling: boolean;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The watched directory itself has gone. */
  readonly onGone: () => void;
}

/** Starts watching an existing directory. Resolves, when changes from now on are seen, with what ends it. */
export async function watchTree(
  { directory, depth, matches, onHint }: Omit<WatchRequest, 'onReconcile'>,
  { polling, clock, onError, onGone }: DirectoryWatcherOptions,
): Promise<() => Promise<void>> {
  const nameOf = (path: string): string => relative(directory, path).split(sep).join('/');
  const hint = coalesced(onHint);
  const watcher = watch(directory, {
    ignoreInitial: true,
    followSymlinks: false,
    depth,
    usePolling: polling,
    interval: POLL_INTERVAL_MS,
    // Holding back removals for editors' sake is up to those who are told: they compare contents anyway.
    atomic: false,
    ignored: (path, stats) => {
      const name = nameOf(path);
      if (name === '') return false;
      if (stats === undefined || stats.isSymbolicLink()) return !matches(name, true) && !matches(name, false);
      const isIgnored = !matches(name, stats.isDirectory());
      if (!isIgnored && stats.isDirectory()) stale.seen(path, stats);
      return isIgnored;
    },
  });
  const stale = createStaleWatches(clock, (path) => {
    watcher.unwatch(path);
    watcher.add(path);
    hint(nameOf(path));
  });
  watcher.on('all', (_event, path) => {
    if (path !== directory) hint(nameOf(path));
  });
  watcher.on('unlinkDir', (path) => {
    stale.gone(path);
    if (path === directory) onGone();
  });
  // Of changes that follow each other within 50 ms the events above tell the first only.
  watcher.on('raw', (_event, path, details) => {
    // The system does not always say which entry it was.
    if (typeof path !== 'string') return;
    const name = nameOf(rawPath(path, details));
    if (name !== '' && !name.startsWith('../') && matches(name, false)) hint(name);
  });
  watcher.on('error', onError);
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return async () => {
    stale.close();
    const closed = watcher.close();
    // It has just dropped its listeners, and an error of a read that is still under way would have none: Node ends the process for that.
    watcher.on('error', () => undefined);
    await closed;
  };
}

/** A raw event names the entry of a watched directory, or the watched file itself. */
function rawPath(path: string, details: unknown): string {
  const { watchedPath } = details as { readonly watchedPath?: string };
  if (watchedPath === undefined) return path;
  return basename(watchedPath) === path ? watchedPath : join(watchedPath, path);
}

/** Passes each path on once per turn of the event loop. */
function coalesced(onHint: (path: string) => void): (path: string) => void {
  const due = new Set<string>();
  return (path) => {
    if (due.size === 0) {
      setImmediate(() => {
        const paths = [...due];
        due.clear();
        for (const one of paths) onHint(one);
      });
    }
    due.add(path);
  };
}
