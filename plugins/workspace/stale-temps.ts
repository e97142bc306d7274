import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const TEMP_NAME = /^\..+\.tmp$/;
const WRITER = /\.(\d+)-[0-9a-f]+\.tmp$/;

/**
 * Removes the temporary files (`.<name>.tmp`) that a crash left in `root` and in the agents' directories: those older than this process
 * whose writer, if the name tells it, is gone.
 *
 * @returns the removed files
 */
export async function removeStaleTemps(root: string): Promise<readonly string[]> {
  const agents = join(root, 'agents');
  const removed: string[] = [];
  for (const directory of [root, ...(await directoriesIn(agents))]) {
    for (const name of await namesIn(directory)) {
      const file = join(directory, name);
      if (!TEMP_NAME.test(name) || !(await isStale(file, name))) continue;
      await unlink(file);
      removed.push(file);
    }
  }
  return removed;
}

async function isStale(file: string, name: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  // The file's time comes from the file system, so it is compared with the real start of this process.
  if (found === undefined || !found.isFile() || found.mtimeMs >= performance.timeOrigin) return false;
  const writer = WRITER.exec(name)?.[1];
  return writer === undefined || Number(writer) === process.pid || !isAlive(Number(writer));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function directoriesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(whenMissing([]));
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(directory, entry.name));
}

function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(whenMissing([]));
}

function whenMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value;
    throw error;
  };
}
