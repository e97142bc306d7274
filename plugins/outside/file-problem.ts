/** What the operating system refused, in words for a model. */
import { codeOf } from './errno.ts';
import { FileProblem, printable } from './contract.ts';

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

/** A system error as a FileProblem; anything else stays what it is. */
export function translated(error: unknown, path: string, missing: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOENT') return problem(missing, path, { cause: error });
  const text = TEXTS[code];
  if (text !== undefined) return problem(text, path, { cause: error });
  if (typeof (error as { readonly syscall?: unknown } | null)?.syscall !== 'string') return error;
  return problem(`Failed with ${code}`, path, { cause: error });
}
