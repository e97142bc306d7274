/** Where deleted agents go. */
import { lstat, mkdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Moves `<agentsDirectory>/<name>` to `<archive>/<name>`, or to `<name>-<at>` or `<name>-<at>-<n>` when that is taken (or is the place of
 * the archived skills). Never replaces anything. Returns the name in the archive. Throws the file system's error; nothing has moved then.
 *
 * @param at  epoch milliseconds
 */
export async function archiveAgent(agentsDirectory: string, name: string, archive: string, at: number): Promise<string> {
  const source = join(agentsDirectory, name);
  const isLink = (await lstat(source)).isSymbolicLink();
  await mkdir(archive, { recursive: true });
  const place = await freePlace(archive, name, at);
  const target = join(archive, place);
  // A folder may be renamed over an empty one, a link may not.
  if (isLink) await rmdir(target);
  try {
    await rename(source, target);
  } catch (error) {
    if (!isLink) await rmdir(target);
    throw error;
  }
  return place;
}

/** Takes a free name by creating the folder. */
async function freePlace(archive: string, name: string, at: number): Promise<string> {
  for (let attempt = name === 'skills' ? 1 : 0; ; attempt += 1) {
    const place = attempt === 0 ? name : attempt === 1 ? `${name}-${at}` : `${name}-${at}-${attempt - 1}`;
    try {
      await mkdir(join(archive, place));
      return place;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
