/** What children see of the workspace and of the whitelisted paths, as options of bubblewrap. */
import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfinementView } from './processes-contract.ts';

/** Their contents are never the machine's own inside. */
const OWN_INSIDE = ['/proc', '/sys', '/dev'];

/** True when `path` is `directory` or below it. Both are real paths. */
export const isBelow = (directory: string, path: string): boolean => path === directory || path.startsWith(`${directory}/`);

/** Makes whitelisted paths writable, outer ones first. The workspace has mounts of its own; a path that has become a link means another place now. */
export async function writableMounts(paths: readonly string[], root: string): Promise<readonly string[]> {
  const mounts: string[] = [];
  for (const path of [...paths].sort()) {
    if (isBelow(root, path) || OWN_INSIDE.some((own) => isBelow(own, path))) continue;
    if (path === '/') mounts.push(...wholeDisk);
    else if ((await realpath(path).catch(() => undefined)) === path) mounts.push('--bind-try', path, path);
  }
  return mounts;
}

/** The disk with its own views of kernel and devices. */
const wholeDisk = ['--bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];

/**
 * An empty directory in the workspace's place, with everything in it mounted one by one that is not hidden: what is hidden is not there,
 * whatever is created or replaced while the child runs. New names at the top of the workspace cannot be made by children.
 * The agent's own directory is writable except for a definition that is protected.
 */
export async function workspaceMounts(root: string, home: string, view: ConfinementView): Promise<readonly string[]> {
  const agents = join(root, 'agents');
  const mounts = ['--tmpfs', root];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (path !== agents) mounts.push(...(await mountOf(path, entry, view)));
  }
  // "*" is no agent's name: it stands for every other agent, and for those that do not exist yet.
  const others = view.protection(join(agents, '*'));
  if (others !== 'hidden') mounts.push(others === 'read-only' ? '--ro-bind-try' : '--bind-try', agents, agents);
  if (isBelow(agents, home)) mounts.push(...(await homeMounts(home, view)));
  return [...mounts, '--remount-ro', root];
}

async function mountOf(path: string, entry: Dirent, view: ConfinementView): Promise<readonly string[]> {
  const protection = view.protection(path);
  if (protection === 'hidden') return [];
  if (entry.isSymbolicLink()) return ['--symlink', await readlink(path), path];
  if (!entry.isFile() && !entry.isDirectory()) return [];
  return [protection === 'read-only' ? '--ro-bind-try' : '--bind-try', path, path];
}

async function homeMounts(home: string, view: ConfinementView): Promise<readonly string[]> {
  const definition = join(home, 'AGENT.md');
  if (view.protection(definition) === undefined) return ['--bind', home, home];
  const stat = await lstat(definition).catch(() => undefined);
  // Only a file can be covered: where there is none, or a link, the whole directory is read-only, so that none can be made.
  if (stat?.isFile() !== true) return ['--ro-bind', home, home];
  return ['--bind', home, home, '--ro-bind', definition, definition];
}
