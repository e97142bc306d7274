/** One watched directory: file system events as hints, and a timer for what they miss. */
import { mkdir, stat } from 'node:fs/promises';
import { type Clock, type Disposer, type Logger, messageOf } from '../../kernel/index.ts';
import type { WatchRequest } from './contract.ts';
import { watchTree } from './directory-watcher.ts';
import { watchEntries } from './watch-entries.ts';

/** How to watch. */
export interface WatchOptions {
  readonly polling: boolean;
  readonly reconcileMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Errors come in swarms (one for each directory); one comparison answers them all. */
const ERROR_PAUSE_MS = 1000;

/**
 * Watches until the returned disposer has run; resolves when changes from now on are seen. The directory is created when it is missing.
 * When another one has come in its place, watching starts anew at the next comparison. Rejects when it cannot be created.
 */
export async function watchDirectory(request: WatchRequest, { polling, reconcileMs, clock, log }: WatchOptions): Promise<Disposer> {
  const { directory, onReconcile } = request;
  await mkdir(directory, { recursive: true });
  let stopped = false;
  let limitReported = false;
  let cancelErrorPause: (() => void) | undefined;
  let restarting: Promise<void> = Promise.resolve();
  let identity = await identityOf(directory);
  let end = await start();
  let cancelTick = clock.after(reconcileMs, tick);

  function start(): Promise<() => Promise<void>> {
    const onHint = (path: string): void => {
      if (!stopped) request.onHint(path);
    };
    const onGone = (): void => {
      identity = undefined;
    };
    if (request.depth === 0) return watchEntries({ ...request, onHint }, clock);
    return watchTree({ ...request, onHint }, { polling, clock, onError, onGone });
  }

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
    await end();
    end = await start();
  }

  return async () => {
    if (stopped) return;
    stopped = true;
    cancelTick();
    cancelErrorPause?.();
    await restarting;
    await end();
  };
}

/** Tells two directories of the same path apart; undefined while there is none. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { dev, ino, birthtimeNs } = await stat(directory, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}
