/** What a save of several files does, written down so that it can be undone. */
import { readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { versionOf } from './agent-file.ts';

/** One file of a save; paths are relative to the agents directory. */
export interface NotedFile {
  readonly target: string;
  /** Where the new content is until it is in place. */
  readonly temporary: string;
  /** Where the old content is until the save is final; null when there was none. */
  readonly backup: string | null;
  /** SHA-256 of the new content: a file without it was not written by the save. */
  readonly digest: string;
}

/** A whole save. */
export interface SaveNote {
  readonly files: readonly NotedFile[];
  /** Folders that the save creates, outer ones first. */
  readonly folders: readonly string[];
}

/** Puts back what was there, and removes what the save has created; other people's files stay. Goes on after a failure, throws the first. */
export async function undoSave(directory: string, note: SaveNote): Promise<void> {
  const failures: unknown[] = [];
  for (const file of note.files.toReversed()) {
    await undoFile(directory, file).catch((error: unknown) => failures.push(error));
  }
  for (const folder of note.folders.toReversed()) {
    await rmdir(join(directory, folder)).catch((error: unknown) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

/** Removes the old contents of a save that is final. */
export async function removeBackups(directory: string, note: SaveNote): Promise<void> {
  for (const { backup } of note.files) if (backup !== null) await rm(join(directory, backup), { force: true });
}

async function undoFile(directory: string, { target, temporary, backup, digest }: NotedFile): Promise<void> {
  await rm(join(directory, temporary), { force: true });
  if (backup === null) {
    const content = await readFile(join(directory, target)).catch(() => undefined);
    if (content !== undefined && versionOf(content) === digest) await rm(join(directory, target));
    return;
  }
  try {
    await rename(join(directory, backup), join(directory, target));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  // Renaming a file over a hard link of itself does nothing (POSIX), so the backup may still be there.
  await rm(join(directory, backup), { force: true });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
