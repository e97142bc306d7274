/** Connects the watch with the follower. */
import { type Disposer, type Logger, messageOf } from '../../kernel/index.ts';
import type { Watch } from '../watch/contract.ts';
import type { DiskFollower } from './disk-follower.ts';

/**
 * Follows the directory from some moment soon: watching thousands of directories takes seconds and nobody need wait for it, since a look at
 * everything comes right after. Returns at once; the disposer waits until the watch has started, and ends it.
 */
export function followDirectory(directory: string, watch: Watch, follower: DiskFollower, log: Logger): Disposer {
  const watching = watch
    .watch({
      directory,
      depth: 1,
      matches: isOfInterest,
      onHint: (path) => follower.hint(path.split('/', 1)[0] ?? ''),
      onReconcile: () => void follower.reconcile(),
    })
    .then(async (stop) => {
      await follower.reconcile();
      return stop;
    })
    .catch((error: unknown) => {
      log.error('the agents directory cannot be watched, edits of files count after a restart only', { error: messageOf(error) });
      return undefined;
    });
  return async () => (await watching)?.();
}

/** Agents' directories and their AGENT.md, in any spelling, since a wrong one is worth a hint. */
function isOfInterest(path: string, isDirectory: boolean): boolean {
  const [name = '', file, ...deeper] = path.split('/');
  if (name.startsWith('.') || deeper.length > 0) return false;
  return file === undefined || (!isDirectory && file.toLowerCase() === 'agent.md');
}
