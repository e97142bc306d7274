/** Files of the workspace that tools must not touch. The rule is on names, so it also holds for files that do not exist yet. */
import { isInside } from './is-inside.ts';

/** `never`: neither read nor written. `write`: read only. */
export type Protection = 'never' | 'write' | undefined;

/** Secrets, configuration and state in the workspace root, together with their journals, copies and temporary files. */
const PRIVATE_STEMS = ['oryxos.db', 'oryxos.lock', 'server.json', 'master.key', 'application.y', 'mcp_servers.y'];
const PRIVATE_NAMES = new Set(['logs', 'backups']);
/** What agents are made of: whoever writes these gives himself tools. */
const DEFINITIONS = new Set(['agents.md', 'soul.md', 'user.md', 'skills', 'plugins']);

/**
 * How a path is protected from the tools of an agent. Names are compared without regard to case: on a disk that ignores it they are the same file.
 *
 * @param root  real path of the workspace
 * @param real  real path of the object, or where it would be created
 */
export function protectionOf(real: string, root: string, agent: string): Protection {
  if (real === root || !isInside(root, real)) return undefined;
  const names = real.slice(root.length).split('/').filter(Boolean);
  const [top = '', , third = ''] = names.map(folded);
  if (isPrivate(top)) return 'never';
  if (DEFINITIONS.has(top)) return 'write';
  if (top !== 'agents' || names.length < 2) return undefined;
  if (names[1] !== agent) return 'write';
  return names.length === 3 && third === 'agent.md' ? 'write' : undefined;
}

function isPrivate(top: string): boolean {
  if (PRIVATE_NAMES.has(top) || top.startsWith('.instance')) return true;
  const stem = top.replace(/^\.+/, '');
  return PRIVATE_STEMS.some((name) => stem.startsWith(name));
}

/** One spelling for all that a case-insensitive disk takes for the same name; upper case first, because "ſ" has no other way to "s". */
const folded = (name: string): string => name.normalize('NFC').toUpperCase().toLowerCase();
