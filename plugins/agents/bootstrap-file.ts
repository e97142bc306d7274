/** Files of the workspace that an agent's prompt includes. */
import { open, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { isOryxError, messageOf, OryxError } from '../../kernel/index.ts';

const MAX_BYTES = 256 * 1024;
/** What no prompt may ever carry: it would reach a model provider. Compared without case, since some file systems are. */
const SECRET =
  /^(?:oryxos\.(?:db|lock).*|\.instance|.*\.lock|server\.json|master\.key|application\.yml|mcp_servers\.yaml|(?:logs|backups)(?:\/.*)?)$/i;

/** Why `path` cannot be included, as the end of a sentence; undefined when it can. It counts from the workspace root. */
export function bootstrapProblem(path: string): string | undefined {
  const segments = path.split('/');
  // oxlint-disable-next-line no-control-regex -- names with control characters are never meant
  if (/[\\\u0000-\u001f]/.test(path) || path.startsWith('/') || segments.includes('..')) {
    return 'must be a path inside the workspace, relative to it, with "/" between folders';
  }
  const plain = segments.filter((segment) => segment !== '' && segment !== '.').join('/');
  if (plain === '') return 'is not a file';
  return SECRET.test(plain) ? 'is never shown to a model' : undefined;
}

/**
 * Text of a bootstrap file; undefined when there is none. Links are followed, but only inside the workspace.
 * Throws ORYX_INVALID_AGENT when the file is there and cannot be included.
 */
export async function readBootstrapFile(root: string, path: string): Promise<string | undefined> {
  const refuse = (reason: string, cause?: unknown): OryxError =>
    new OryxError('ORYX_INVALID_AGENT', `Bootstrap file "${path}" ${reason}.`, { cause });
  const problem = bootstrapProblem(path);
  if (problem !== undefined) throw refuse(problem);
  try {
    const real = await realpath(resolve(root, path));
    const inside = relative(root, real).split(sep).join('/');
    const realProblem = bootstrapProblem(inside);
    if (realProblem !== undefined) throw refuse(realProblem);
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const { size, isFile } = await file.stat().then((stats) => ({ size: stats.size, isFile: stats.isFile() }));
    if (!isFile) throw refuse('is not a regular file');
    if (size > MAX_BYTES) throw refuse(`is larger than ${MAX_BYTES / 1024} KB`);
    return await file.readFile('utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw isOryxError(error) ? error : refuse(`cannot be read (${codeOf(error)}): check its permissions`, error);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? messageOf(error);
const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
