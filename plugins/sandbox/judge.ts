/** May this be touched? Pure: everything that has to be looked up was looked up before. */
import { isAbsolute, resolve } from 'node:path';
import type { Claim, Refusal } from '../../kernel/index.ts';
import { refuse } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import { covers, domainRule, hostOf } from './domain-rule.ts';
import { isInside } from './is-inside.ts';
import { protectionOf } from './protected-path.ts';
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
const MAX_SHOWN = 300;

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

/** The verdict on everything but files, by the claim's value as it stands: the exact executable, the host of a URL. Unknown kinds are refused. */
export function judgeOther(claim: Claim, { lists }: Rules): Refusal | undefined {
  if (claim.kind === 'command') return judgeCommand(claim.value, lists.shell);
  if (claim.kind === 'url') return judgeUrl(claim.value, lists.http);
  return refused(`There is no whitelist for ${quoted(claim.kind)}, so nothing of that kind is allowed`);
}

function judgeCommand(executable: string, allowed: readonly string[]): Refusal | undefined {
  if (allowed.includes(executable)) return undefined;
  return refused(
    `${quoted(executable)} is not on the shell whitelist; an administrator can add it with POST /api/v1/sandbox/whitelist/shell`,
  );
}

function judgeUrl(text: string, allowed: readonly string[]): Refusal | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url === undefined ? undefined : hostOf(url.hostname);
  if (url === undefined || host === undefined) return refused(`${quoted(text)} is not a valid URL, so it cannot be on the http whitelist`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refused(`${quoted(url.protocol)} is not covered by the http whitelist: only http and https are`);
  }
  if (url.username !== '' || url.password !== '') {
    return refused(`A URL with a user name or password is not covered by the http whitelist; the host was ${quoted(host)}`);
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (allowed.some((entry) => covers(domainRule(entry), host, port))) return undefined;
  return refused(`${quoted(url.host)} is not on the http whitelist; an administrator can add it with POST /api/v1/sandbox/whitelist/http`);
}

const isSystem = (path: string): boolean => SYSTEM.some((top) => isInside(top, path));

const refused = (message: string): Refusal => refuse('sandbox', message);

function quoted(text: string): string {
  const shown = printable(text);
  return `"${shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown}"`;
}
