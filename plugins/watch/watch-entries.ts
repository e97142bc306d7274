/** Watching the direct entries of one directory by looking at them. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/index.ts';
import type { WatchRequest } from './contract.ts';

const LOOK_EVERY_MS = 250;

/**
 * Looks at the files that matter four times a second, through links. Resolves, when changes from now on are seen, with what ends it; a
 * directory that is gone has no entries.
 *
 * Not by events: whoever is interested in single files of a directory does not want to hear of its others. The database writes several times
 * a turn into the workspace, and every event of it makes chokidar read the directory again.
 */
export async function watchEntries(
  { directory, matches, onHint }: Pick<WatchRequest, 'directory' | 'matches' | 'onHint'>,
  clock: Clock,
): Promise<() => Promise<void>> {
  let known = await entriesOf(directory, matches);
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  let cancel = clock.after(LOOK_EVERY_MS, tick);

  function tick(): void {
    looking = look();
  }

  async function look(): Promise<void> {
    const now = await entriesOf(directory, matches);
    if (stopped) return;
    const changed = [...new Set([...known.keys(), ...now.keys()])].filter((name) => known.get(name) !== now.get(name));
    known = now;
    cancel = clock.after(LOOK_EVERY_MS, tick);
    for (const name of changed) onHint(name);
  }

  return async () => {
    stopped = true;
    cancel();
    await looking;
  };
}

/** What the files that matter look like; one that cannot be looked at is not there. */
async function entriesOf(directory: string, matches: WatchRequest['matches']): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(directory).catch(() => []);
  const found = new Map<string, string>();
  for (const name of names.filter((entry) => matches(entry, false))) {
    const stats = await stat(join(directory, name), { bigint: true }).catch(() => undefined);
    if (stats !== undefined) found.set(name, `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`);
  }
  return found;
}
