/** What of a workspace goes into a backup. */
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE, KEY, type Skipped } from './manifest.ts';

/** Something to put into a backup. */
export interface Found {
  /** Relative to the workspace, with "/". */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link';
  readonly mode: number;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
  /** Where a link points; "" for everything else. */
  readonly target: string;
}

/** Of the running process, or copies of what is there anyway. The database is added by itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['oryxos.lock', 'server.json', '.instance', '.initializing', 'logs', 'backups']);
const TEMPORARY = /^\..+\.tmp$/;

/**
 * Everything but logs, backups, the lock, temporary files, the database, and, unless `withKey`, the master key; parents before children.
 * Installed packages, links that lead out of the workspace and special files are left out too, and said to be.
 */
export async function* workspaceEntries(
  root: string,
  withKey: boolean,
  skip: (skipped: Skipped) => void,
  directory = '',
): AsyncGenerator<Found, void, undefined> {
  for (const name of (await readdir(join(root, directory))).sort()) {
    if (directory === '' && (LEFT_OUT.has(name) || name.startsWith(DATABASE) || (name === KEY && !withKey))) continue;
    if (TEMPORARY.test(name)) continue;
    const path = directory === '' ? name : `${directory}/${name}`;
    const found = await foundAt(root, path, name);
    if (typeof found === 'string') {
      skip({ path, reason: found });
      continue;
    }
    yield found;
    if (found.type === 'directory') yield* workspaceEntries(root, withKey, skip, path);
  }
}

/** The entry, or why it cannot be one. */
async function foundAt(root: string, path: string, name: string): Promise<Found | string> {
  try {
    const info = await lstat(join(root, path));
    const shared = { path, mode: info.mode & 0o777, modifiedAt: info.mtimeMs, target: '' };
    if (info.isFile()) return { ...shared, type: 'file' };
    if (info.isDirectory()) return name === 'node_modules' ? 'packages can be installed again' : { ...shared, type: 'directory' };
    if (!info.isSymbolicLink()) return 'it is neither a file, a directory nor a link';
    const target = await readlink(join(root, path));
    return staysInside(path, target) ? { ...shared, type: 'link', target } : 'it is a link that leads out of the workspace';
  } catch (error) {
    const reason = unreadable(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

/** Why a file is left out of a backup; undefined when that is no reason to go on without it. */
export function unreadable(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'it went away meanwhile';
  return code === 'EACCES' || code === 'EPERM' || code === 'ELOOP' ? 'it cannot be read' : undefined;
}

/**
 * Whether a link of a workspace stays in it wherever the workspace is: a relative target that first climbs, not above the root, and then
 * descends. A target that climbs later could leave through another link.
 */
export function staysInside(path: string, target: string): boolean {
  const [, up = '', down = ''] = /^((?:\.\.\/)*)(.*)$/s.exec(target) ?? [];
  const depth = path.split('/').length - 1;
  if (up.length / 3 > depth || target.startsWith('/') || target.includes('\0')) return false;
  return down !== '' && down.split('/').every((part, index, parts) => (part !== '' || index === parts.length - 1) && part !== '..');
}
