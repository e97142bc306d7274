/** Where a program lies: looked up on a fixed path, never in the working directory. */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/** The only directories in which programs are looked up, in this order; the server's own PATH does not count. */
export const PROGRAM_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];

/** A program that was found. */
export interface Program {
  /** Real path: all links followed. */
  readonly file: string;
  /** Absolute path under which it was found. Programs with several names (busybox, uutils) look at it to know what they are. */
  readonly foundAt: string;
}

/** Finds an executable regular file by its name or absolute path; undefined when there is none. */
export async function findProgram(executable: string): Promise<Program | undefined> {
  if (executable.includes('\0')) return undefined;
  if (!isAbsolute(executable) && (executable === '' || executable.includes('/'))) return undefined;
  const places = isAbsolute(executable) ? [executable] : PROGRAM_PATH.map((directory) => join(directory, executable));
  for (const foundAt of places) {
    const file = await executableAt(foundAt);
    if (file !== undefined) return { file, foundAt };
  }
  return undefined;
}

async function executableAt(path: string): Promise<string | undefined> {
  try {
    const file = await realpath(path);
    if (!(await stat(file)).isFile()) return undefined;
    await access(file, constants.X_OK);
    return file;
  } catch {
    // Missing, not searchable, not executable: it cannot be started, whatever the reason, and the next directory is tried.
    return undefined;
  }
}
