/** What the operating system refused, in words for a model. */
import { codeOf } from './errno.ts';
import { FileProblem, printable } from './contract.ts';
import { Moved } from './open-directory.ts';

const TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EPERM: 'Permission denied',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  ENAMETOOLONG: 'File name too long',
  ENOSPC: 'No space left on the disk',
  EDQUOT: 'No space left on the disk',
  EFBIG: 'File too large for this disk',
  EROFS: 'Read-only file system',
  EMFILE: 'Too many open files, try again',
  ENFILE: 'Too many open files, try again',
};

/** A FileProblem that names the path as the caller gave it. */
export const problem = (text: string, path: string, options?: { readonly cause?: unknown; readonly blockedBy?: string }): FileProblem =>
  new FileProblem(`${text}: ${printable(path)}`, options);

/** O_NOFOLLOW met a link where none was, or a directory is another one by now: resolving the path again may help. */
export const isMoved = (error: unknown): boolean => error instanceof Moved || codeOf(error) === 'ELOOP';

/**
 * What `work` rejects with, as a FileProblem that names the path when it comes from the operating system; anything else stays what it is.
 *
 * @param missing  what to say when there is no such thing
 */
export async function naming<T>(path: string, missing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isMoved(error) ? error : translated(error, path, missing);
  }
}

function translated(error: unknown, path: string, missing: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOENT') return problem(missing, path, { cause: error });
  const text = TEXTS[code];
  if (text !== undefined) return problem(text, path, { cause: error });
  if (typeof (error as { readonly syscall?: unknown } | null)?.syscall !== 'string') return error;
  return problem(`Failed with ${code}`, path, { cause: error });
}
