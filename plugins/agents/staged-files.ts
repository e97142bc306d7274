/** Replaces several files of one agent together: all of them or none, also when the process dies in between. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Logger, messageOf, type Statement } from '../../kernel/index.ts';
import { versionOf } from './agent-file.ts';
import type { AgentSaves } from './agent-saves-repository.ts';
import { type Place, placesOf } from './file-places.ts';
import { type NotedFile, removeBackups, type SaveNote, undoSave } from './save-note.ts';

/** A file to write; `path` is relative to the agent's directory, with "/" between folders. */
export interface NewFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** Files that are in place but not final. When `final` has been written, `finish` is to be called, else `rollback`. Neither rejects. */
export interface StagedFiles {
  /** Makes the new files count; goes into the write that makes the agent live. */
  readonly final: Statement;
  /** Removes the old files. */
  finish(): Promise<void>;
  /** Takes back everything, and removes folders that were created and are empty again. */
  rollback(): Promise<void>;
}

/** Writes files of agents. */
export interface FileWriter {
  /**
   * Writes `files` beneath `<agents>/<name>`, in their order, and returns when they are in place and on disk. The folder is created when
   * `create` is set and must exist otherwise. Throws ORYX_INVALID_INPUT when a link or folder is in a file's place, a link or file in a
   * folder's place, or the folder exists although it is to be created. Whatever it throws, nothing has changed then.
   */
  write(name: string, files: readonly NewFile[], create: boolean): Promise<StagedFiles>;
  /** Undoes what an earlier process left half done. */
  recover(): Promise<void>;
}

/** @param directory  real path of the directory `agents` */
export function createFileWriter(directory: string, saves: AgentSaves, log: Logger): FileWriter {
  const rollBack = async (id: string, note: SaveNote): Promise<void> => {
    try {
      await undoSave(directory, note);
      await saves.forget(id);
    } catch (error) {
      log.error('a save cannot be undone now, the next start tries again', {
        files: note.files.map(({ target }) => target),
        error: messageOf(error),
      });
    }
  };
  const clearAway = async (id: string, note: SaveNote): Promise<void> => {
    try {
      await removeBackups(directory, note);
      await saves.forget(id);
    } catch (error) {
      log.warn('old files of a save are left for the next start to remove', { error: messageOf(error) });
    }
  };
  return {
    async write(name, files, create) {
      const { places, folders } = await placesOf(directory, name, files, create);
      const id = randomUUID();
      const note = noteOf(name, places, folders, id);
      await saves.begin(id, note);
      try {
        await putInPlace(directory, note, places);
      } catch (error) {
        await rollBack(id, note);
        throw error;
      }
      return {
        final: saves.committed(id),
        finish: () => clearAway(id, note),
        rollback: () => rollBack(id, note),
      };
    },
    async recover() {
      for (const { id, note, done } of await saves.unfinished()) {
        if (done) await clearAway(id, note);
        else await rollBack(id, note);
        log.warn(done ? 'cleared away after a save' : 'undid a save that was cut short', { files: note.files.map(({ target }) => target) });
      }
    },
  };
}

function noteOf(name: string, places: readonly Place[], folders: readonly string[], id: string): SaveNote {
  const files = places.map(({ path, content, mode }, index): NotedFile => {
    const target = `${name}/${path}`;
    const beside = `${dirname(target)}/.save-${id}-${index}`;
    return { target, temporary: `${beside}.tmp`, backup: mode === undefined ? null : `${beside}.bak`, digest: versionOf(content) };
  });
  return { files, folders };
}

async function putInPlace(directory: string, { files, folders }: SaveNote, places: readonly Place[]): Promise<void> {
  for (const folder of folders) await mkdir(join(directory, folder));
  for (const [index, { temporary }] of files.entries()) {
    const { content = new Uint8Array(), mode } = places[index] ?? {};
    await writeDurably(join(directory, temporary), content);
    if (mode !== undefined) await chmod(join(directory, temporary), mode);
  }
  for (const { target, temporary, backup } of files) {
    if (backup !== null) await secondName(join(directory, target), join(directory, backup));
    if (backup === null) await moveToFreePlace(join(directory, temporary), join(directory, target));
    else await rename(join(directory, temporary), join(directory, target));
  }
  for (const folder of new Set(files.flatMap(({ target }) => [dirname(target), dirname(dirname(target))]))) {
    await syncFolder(join(directory, folder));
  }
}

/** Keeps the old content under a second name; a copy where the file system has no hard links. */
async function secondName(target: string, backup: string): Promise<void> {
  try {
    await link(target, backup);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw error;
    await copyFile(target, backup, constants.COPYFILE_EXCL);
  }
}

/** Fails with EEXIST rather than replace a file that somebody has put there meanwhile. */
async function moveToFreePlace(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    await rename(temporary, target);
    return;
  }
  await rm(temporary);
}

async function writeDurably(path: string, content: Uint8Array): Promise<void> {
  await using file = await open(path, 'wx');
  await file.writeFile(content);
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
