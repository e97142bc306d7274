/** One watched directory: file system events as hints, and a timer for what they miss. */
import { mkdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { watch as openWatcher, type FSWatcher } from 'chokidar';
import { type Clock, type Disposer, type Logger, messageOf } from '../../kernel/index.ts';
import type { WatchRequest } from './contract.ts';

export interface WatchOptions {
  readonly polling: boolean;
  readonly reconcileMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Errors come in swarms (one for each directory); one comparison answers them all. */
const ERROR_PAUSE_MS = 1000;
const POLL_INTERVAL_MS = 100;

/**
 * Watches until the returned disposer has run; resolves when changes from now on are seen. The directory is created when it is missing.
 * When it is replaced or comes back later, watching starts anew at the next comparison. Rejects when it cannot be created or read.
 */
export async function watchDirectory(request: WatchRequest, options: WatchOptions): Promise<Disposer> {
  const { directory, onReconcile } = request;
  const whileWatching: WatchRequest = {
    ...request,
    onHint: (path) => {
      if (!stopped) request.onHint(path);
    },
  };
  const { clock, log, reconcileMs } = options;
  await mkdir(directory, { recursive: true });
  let stopped = false;
  let limitReported = false;
  let cancelErrorPause: (() => void) | undefined;
  let restarting: Promise<void> = Promise.resolve();
  let identity = await identityOf(directory);
  let watcher = await start(whileWatching, options, onError);
  let cancelTick = clock.after(reconcileMs, tick);

  function onError(error: unknown): void {
    if (stopped) return;
    const code = (error as NodeJS.ErrnoException).code;
    const isLimit = code === 'ENOSPC' || code === 'EMFILE';
    if (!isLimit) log.warn('watching files failed in part, the comparison finds what is missed', { directory, error: messageOf(error) });
    if (isLimit && !limitReported) {
      limitReported = true;
      log.warn(
        'the system allows no more file watchers, edits are noticed late: raise fs.inotify.max_user_watches or set watch.polling to true',
        { directory, code },
      );
    }
    cancelErrorPause ??= clock.after(ERROR_PAUSE_MS, () => {
      cancelErrorPause = undefined;
      onReconcile();
    });
  }

  function tick(): void {
    cancelTick = clock.after(reconcileMs, tick);
    restarting = restarting.then(restartWhenReplaced).then(() => {
      if (!stopped) onReconcile();
    });
  }

  /** A watcher holds on to the directory that it has opened, whatever stands under its name now. */
  async function restartWhenReplaced(): Promise<void> {
    const now = await identityOf(directory);
    if (stopped || now === undefined || now === identity) return;
    identity = now;
    await close(watcher);
    watcher = await start(whileWatching, options, onError);
  }

  return async () => {
    if (stopped) return;
    stopped = true;
    cancelTick();
    cancelErrorPause?.();
    await restarting;
    await close(watcher);
  };
}

async function start(request: WatchRequest, { polling }: WatchOptions, onError: (error: unknown) => void): Promise<FSWatcher> {
  const { directory, depth, matches, onHint } = request;
  const relativeTo = (path: string): string => relative(directory, path).split(sep).join('/');
  const watcher = openWatcher(directory, {
    ignoreInitial: true,
    followSymlinks: false,
    depth,
    usePolling: polling,
    interval: POLL_INTERVAL_MS,
    // Holding back removals for editors' sake is up to those who are told: they compare contents anyway.
    atomic: false,
    ignored: (path, stats) => {
      const name = relativeTo(path);
      if (name === '') return false;
      if (stats === undefined || stats.isSymbolicLink()) return !matches(name, true) && !matches(name, false);
      return !matches(name, stats.isDirectory());
    },
  });
  const hint = coalesced(onHint);
  watcher.on('all', (_event, path) => hint(relativeTo(path)));
  // Of changes that follow each other within 50 ms the event above tells the first only.
  watcher.on('raw', (_event, path, details) => {
    // The system does not always say which entry it was.
    if (typeof path !== 'string') return;
    const name = relativeTo(rawPath(path, details));
    if (name !== '' && !name.startsWith('../') && matches(name, false)) hint(name);
  });
  watcher.on('error', onError);
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return watcher;
}

async function close(watcher: FSWatcher): Promise<void> {
  const closed = watcher.close();
  // It has just dropped its listeners, and an error of a read that is still under way would have none: Node ends the process for that.
  watcher.on('error', () => undefined);
  await closed;
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

/** Tells two directories of the same path apart; undefined while there is none. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(directory, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
