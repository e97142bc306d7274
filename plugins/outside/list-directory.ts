/** Listing an open directory. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import type { DirectoryEntry } from './contract.ts';
import type { Directory } from './open-directory.ts';

/** A directory with more entries than this is listed in part, in no particular choice. */
const MAX_SCANNED = 50_000;

/** The first `max` entries by name; `more` tells that there are others. */
export async function listDirectory(
  directory: Directory,
  max: number,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly more: boolean }> {
  const entries: DirectoryEntry[] = [];
  let more = false;
  for await (const entry of await opendir(directory.at('.'))) {
    signal.throwIfAborted();
    more = entries.length === MAX_SCANNED;
    if (more) break;
    entries.push({ name: entry.name, kind: kindOf(entry) });
  }
  await directory.check();
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { entries: entries.slice(0, max), more: more || entries.length > max };
}

/** What an entry is, links not followed. */
export function kindOf(entry: Dirent): DirectoryEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
