/** May this be touched? Pure: everything that has to be looked up was looked up before. */
import { isAbsolute, resolve } from 'node:path';
import type { Claim, Refusal } from '../../kernel/index.ts';
import { isInside } from './is-inside.ts';
import { isProgramName } from './program-name.ts';
import { protectionOf } from './protected-path.ts';
import { quoted, refused } from './refused.ts';
import type { Lists } from './whitelist.ts';

/** What claims are judged by. */
export interface Rules {
  readonly lists: Lists;
  /** Real path of the workspace. */
  readonly root: string;
  /** Whether agents' definitions are read-only for tools. */
  readonly protect: boolean;
}

/** A path as the caller gave it (absolute, or relative to the agent's directory) and as it really is. */
export interface JudgedPath {
  readonly given: string;
  readonly real: string;
  readonly access: 'read' | 'write';
}

/** Views of the kernel and of hardware: their files are not what they seem, and reading them can change the machine. */
const SYSTEM = ['/proc', '/sys', '/dev'];

/** The verdict on a file or directory: allowed when its real path lies in the file whitelist and is not protected. */
export function judgeFile({ given, real, access }: JudgedPath, agent: string, rules: Rules): Refusal | undefined {
  if (isSystem(real) || (isAbsolute(given) && isSystem(resolve(given)))) {
    return refused(`${quoted(given)} is never on the file whitelist: tools may not touch ${SYSTEM.join(', ')}`);
  }
  const protection = protectionOf(real, rules.root, agent);
  if (protection === 'never')
    return refused(`${quoted(given)} is protected: tools never read or write it, whatever the file whitelist says`);
  if (protection === 'write' && access === 'write' && rules.protect) {
    return refused(
      `${quoted(given)} is protected: tools may not write it, whatever the file whitelist says (an administrator can set file.protect: false)`,
    );
  }
  if (rules.lists.file.some((entry) => isInside(entry, real))) return undefined;
  return refused(
    `${quoted(given)} is not on the file whitelist; an administrator can add it, or a directory above it, with POST /api/v1/sandbox/whitelist/file`,
  );
}

/** The verdict on a path that leads nowhere; `reason` is the end of a sentence. */
export const unresolved = (given: string, reason: string): Refusal =>
  refused(`${quoted(given)} cannot be on the file whitelist: the path ${reason}`);

/** The verdict on everything but files and URLs, by the claim's value as it stands: the exact executable. Unknown kinds are refused. */
export function judgeOther(claim: Claim, { lists }: Rules): Refusal | undefined {
  if (claim.kind === 'command') return judgeCommand(claim.value, lists.shell);
  return refused(`There is no whitelist for ${quoted(claim.kind)}, so nothing of that kind is allowed`);
}

function judgeCommand(executable: string, allowed: readonly string[]): Refusal | undefined {
  if (!isProgramName(executable) && !isAbsolute(executable)) {
    return refused(
      `${quoted(executable)} is not on the shell whitelist and cannot be put there; an administrator can add the name of a program, such as "ls", or an absolute path with POST /api/v1/sandbox/whitelist/shell; arguments are given apart`,
    );
  }
  if (allowed.includes(executable)) return undefined;
  return refused(
    `${quoted(executable)} is not on the shell whitelist; an administrator can add it with POST /api/v1/sandbox/whitelist/shell`,
  );
}

const isSystem = (path: string): boolean => SYSTEM.some((top) => isInside(top, path));
