/** Turns hints of the file system into looks at the configuration file and at the code of plugins. */
import { basename, dirname } from 'node:path';
import { type Clock, type Disposer, type Logger, messageOf } from '../../kernel/index.ts';
import type { Watch, WatchRequest } from '../watch/contract.ts';
import type { Loader } from './loader.ts';
import { isCode, isFollowed } from './package-hash.ts';
import type { ThirdParty } from './third-party.ts';

/** Writers need a moment for a file, and builds for many; what follows within this time is one change. */
const PAUSE_MS = 100;
const MAX_DEPTH = 10;

/** What following files needs. */
export interface FollowParts {
  readonly loader: Loader;
  readonly watch: Watch;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Follows the configuration file until disposed. */
export function followConfiguration({ loader, watch, clock, log }: FollowParts): Disposer {
  const { file } = loader.source;
  const look = settled(clock, () => void loader.reread());
  const name = basename(file);
  const request: WatchRequest = {
    directory: dirname(file),
    depth: 0,
    matches: (path, isDirectory) => !isDirectory && path === name,
    onHint: () => look.soon(),
    onReconcile: () => look.soon(),
  };
  return started(watch, request, log, look);
}

/** Follows the code of every plugin that wants it, whichever these are, until disposed. */
export function followPlugins(parts: FollowParts): Disposer {
  const { loader } = parts;
  const following = new Map<ThirdParty, { readonly directory: string; readonly stop: Disposer }>();
  const adapt = (): void => {
    const wanted = new Set(loader.watched());
    for (const [plugin, { directory, stop }] of following) {
      if (wanted.has(plugin) && directory === baseOf(plugin, loader.pluginsDirectory)) continue;
      following.delete(plugin);
      void stop();
    }
    for (const plugin of wanted) {
      if (following.has(plugin)) continue;
      const directory = baseOf(plugin, loader.pluginsDirectory);
      following.set(plugin, { directory, stop: followPlugin(plugin, directory, parts) });
    }
  };
  const forget = loader.onChange(adapt);
  adapt();
  return async () => {
    forget();
    await Promise.all(Array.from(following.values(), async ({ stop }) => stop()));
  };
}

/** A plugin that lies, or is to come, in the plugins directory is followed from there, so that it may be replaced as a whole. */
function baseOf({ package: found }: ThirdParty, pluginsDirectory: string): string {
  return found === undefined || (found.source === 'directory' && !found.isLinked) ? pluginsDirectory : found.directory;
}

function followPlugin(plugin: ThirdParty, directory: string, { loader, watch, clock, log }: FollowParts): Disposer {
  const home = directory === loader.pluginsDirectory ? plugin.name.split('/') : [];
  const look = settled(clock, () => void plugin.look());
  const request: WatchRequest = {
    directory,
    depth: MAX_DEPTH,
    matches: (path, isDirectory) => {
      const segments = path.split('/');
      const inside = segments.slice(home.length);
      if (home.some((segment, index) => index < segments.length && segments[index] !== segment)) return false;
      if (inside.length === 0) return isDirectory;
      return isDirectory ? inside.every(isFollowed) : isCode(inside.join('/'));
    },
    onHint: () => look.soon(),
    onReconcile: () => look.soon(),
  };
  return started(watch, request, log, look);
}

/** Starts a watch and looks once it sees everything; a watch that cannot be started is reported. */
function started(watch: Watch, request: WatchRequest, log: Logger, look: Settled): Disposer {
  const watching = watch.watch(request).then(
    (stop) => {
      look.soon();
      return stop;
    },
    (error: unknown) => {
      log.error('a directory cannot be watched, changes in it count after a restart only', {
        directory: request.directory,
        error: messageOf(error),
      });
      return undefined;
    },
  );
  return async () => {
    look.cancel();
    await (await watching)?.();
    look.cancel();
  };
}

interface Settled {
  soon(): void;
  cancel(): void;
}

/** Calls `fn` once when nothing has happened for a moment. */
function settled(clock: Clock, fn: () => void): Settled {
  let cancel = (): void => undefined;
  return {
    soon() {
      cancel();
      cancel = clock.after(PAUSE_MS, fn);
    },
    cancel: () => cancel(),
  };
}
