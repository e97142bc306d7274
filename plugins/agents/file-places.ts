/** What stands where new files are to go. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidInput } from '../../kernel/index.ts';
import type { NewFile } from './staged-files.ts';

/** A file and its place; `mode` are the permissions of the file that it replaces, undefined when there is none. */
export interface Place extends NewFile {
  readonly mode: number | undefined;
}

/** Where files go. */
export interface Places {
  readonly places: readonly Place[];
  /** Folders to create, relative to the agents directory, outer ones first. */
  readonly folders: readonly string[];
}

/** Looks at every place before anything is written. Throws ORYX_INVALID_INPUT for a place that cannot be taken. */
export async function placesOf(directory: string, name: string, files: readonly NewFile[], create: boolean): Promise<Places> {
  const home = await kindOf(join(directory, name));
  if (create && home !== 'absent')
    throw invalidInput(`The directory agents/${name} exists already: choose another name, or remove it first.`);
  if (!create && home !== 'folder') throw invalidInput(`agents/${name} is not a directory of its own: edit what it leads to.`);

  const folders = new Set<string>(create ? [name] : []);
  const places: Place[] = [];
  for (const file of files) {
    for (const folder of await missingFolders(directory, name, file.path)) folders.add(folder);
    places.push({ ...file, mode: await modeAt(directory, name, file.path) });
  }
  return { places, folders: [...folders] };
}

async function missingFolders(directory: string, name: string, path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  let folder = name;
  for (const segment of path.split('/').slice(0, -1)) {
    folder = `${folder}/${segment}`;
    const kind = await kindOf(join(directory, folder));
    if (kind === 'absent') missing.push(folder);
    else if (kind !== 'folder') throw invalidInput(`"${path}" cannot be written: agents/${folder} is not a folder.`);
  }
  return missing;
}

async function modeAt(directory: string, name: string, path: string): Promise<number | undefined> {
  const target = join(directory, name, path);
  const kind = await kindOf(target);
  if (kind === 'absent') return undefined;
  if (kind !== 'file') throw invalidInput(`"${path}" cannot be written: a link or a folder is in its place.`);
  return (await lstat(target)).mode & 0o777;
}

async function kindOf(path: string): Promise<'absent' | 'file' | 'folder' | 'other'> {
  try {
    const stats = await lstat(path);
    if (stats.isFile()) return 'file';
    return stats.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 'absent';
    throw error;
  }
}
