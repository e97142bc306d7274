/** What the code of a package is, as one hash. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const CODE = /\.(?:[cm]?js|wasm)$/;
/** Far more than a plugin has; a directory that is no plugin must not stop the server. */
const MAX_FILES = 5_000;

/** Whether a path relative to a package belongs to its code: scripts and package.json, outside of node_modules and hidden folders. */
export function isCode(path: string): boolean {
  const segments = path.split('/');
  return segments.every(isFollowed) && (CODE.test(path) || path === 'package.json');
}

/** Whether a directory or file of this name is looked at. */
export const isFollowed = (name: string): boolean => name !== 'node_modules' && !name.startsWith('.');

/** Sixteen hexadecimal digits that change whenever a file of the code changes, comes or goes. A file that cannot be read counts as empty. */
export async function packageHash(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of await codeOf(directory)) {
    const content = await readFile(join(directory, path)).catch(() => '');
    hash.update(path).update('\0').update(createHash('sha256').update(content).digest());
  }
  return hash.digest('hex').slice(0, 16);
}

/** The files of the code, relative to the package and sorted. */
export async function codeOf(directory: string): Promise<readonly string[]> {
  return (await codeBelow(directory, '')).toSorted();
}

async function codeBelow(directory: string, prefix: string): Promise<readonly string[]> {
  const entries = await readdir(join(directory, prefix), { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory() && isFollowed(entry.name)) found.push(...(await codeBelow(directory, `${path}/`)));
    if (entry.isFile() && isCode(path)) found.push(path);
    if (found.length > MAX_FILES) break;
  }
  return found;
}
