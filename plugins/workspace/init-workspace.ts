import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createFile } from './atomic-file.ts';

const UNFINISHED = '.initializing';

/**
 * Fills `root` with the files of `template` that it lacks; creates `root` (mode 0700) when needed. Nothing that exists is changed, so
 * calling it again is safe, also after a crash half-way. An empty `template` means that there is nothing to copy.
 *
 * @returns the files that were created, relative to `root`, sorted
 */
export async function initWorkspace(root: string, template: string): Promise<readonly string[]> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await writeFile(join(root, UNFINISHED), '');
  const created: string[] = [];
  if (template !== '') await copyMissing(template, root, (file) => created.push(relative(root, file)));
  await rm(join(root, UNFINISHED), { force: true });
  return created.sort();
}

/** Whether `root` has never been filled: it is missing, has no `agents/`, or a crash of `initWorkspace` left it half-filled. */
export async function isUninitialized(root: string): Promise<boolean> {
  try {
    const names = await readdir(root);
    return !names.includes('agents') || names.includes(UNFINISHED);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

async function copyMissing(from: string, to: string, onCreated: (file: string) => void): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyMissing(source, target, onCreated);
    if (entry.isFile() && (await createFile({ file: target, content: await readFile(source), shownAs: entry.name }))) onCreated(target);
  }
}
