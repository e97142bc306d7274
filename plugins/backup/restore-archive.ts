/** Puts a backup back: everything is checked beside the workspace, and only then takes its place, at once. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { conflict } from '../../kernel/index.ts';
import { DATABASE, type Manifest } from './manifest.ts';
import { type ArchiveSink, readArchive } from './read-archive.ts';

/** What is restored, and where to. */
export interface RestoreOptions {
  /** Absolute path of the archive. */
  readonly file: string;
  /** Absolute path of the workspace to be. */
  readonly root: string;
  /** Moves a workspace that is there aside instead of refusing. */
  readonly force: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What the store knows how to do. */
export interface RestoreParts {
  /** Rejects when the file is not a sound database. */
  readonly verifyDatabase: (file: string) => Promise<void>;
  /** Takes a workspace for this process until the returned function is called. Throws ORYX_WORKSPACE_BUSY when somebody has it. */
  readonly lock: (root: string) => () => void;
}

/** What was done. */
export interface Restored {
  readonly manifest: Manifest;
  /** Where the workspace is that stood there before. */
  readonly aside: string | undefined;
}

/**
 * Restores an archive. Until all of it is confirmed (manifest, checksums, `integrity_check` of the database) nothing but a directory beside
 * `root` is written, and that is removed when something is wrong.
 *
 * Rejects with ORYX_WORKSPACE_BUSY for a workspace in use, ORYX_CONFLICT for a directory that is not empty (without `force`, or when it is no
 * workspace), and as `readArchive` and `verifyDatabase` do.
 */
export async function restoreArchive({ file, root, force, at }: RestoreOptions, parts: RestoreParts): Promise<Restored> {
  const release = await seized(root, force, parts.lock);
  const staged = `${root}.restoring-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(root), { recursive: true });
    await mkdir(staged, { mode: 0o700 });
    const manifest = await unpacked(file, staged);
    await parts.verifyDatabase(join(staged, DATABASE));
    const aside = release === undefined ? undefined : `${root}.before-restore-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}`;
    await putInPlace(staged, root, aside);
    return { manifest, aside };
  } finally {
    await rm(staged, { recursive: true, force: true });
    release?.();
  }
}

/** Takes the workspace that is there; undefined when there is none. */
async function seized(root: string, force: boolean, lock: RestoreParts['lock']): Promise<(() => void) | undefined> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw conflict(`${root} is a file.`);
    throw error;
  });
  if (names.length === 0) return undefined;
  const isWorkspace = existsSync(join(root, 'agents')) || existsSync(join(root, DATABASE));
  if (!isWorkspace) throw conflict(`${root} is neither empty nor a workspace; restore into another directory.`);
  const release = lock(root);
  if (force) return release;
  release();
  throw conflict(`${root} is a workspace already. Restore into another directory, or use --force to move this one aside.`);
}

async function putInPlace(staged: string, root: string, aside: string | undefined): Promise<void> {
  if (aside === undefined) {
    if (existsSync(root)) await rmdir(root);
    await rename(staged, root);
    return;
  }
  await rename(root, aside);
  try {
    await rename(staged, root);
  } catch (error) {
    await rename(aside, root);
    throw error;
  }
}

/** Links are made last, so that nothing is ever written through one; rights of directories after everything that is put into them. */
async function unpacked(file: string, staged: string): Promise<Manifest> {
  const links: (readonly [string, string])[] = [];
  const directories: (readonly [string, number])[] = [];
  const sink: ArchiveSink = {
    async directory(path, mode) {
      await mkdir(join(staged, path), { mode: 0o700 });
      directories.push([path, mode]);
    },
    async file(path, mode, content) {
      const handle = await open(join(staged, path), 'wx', 0o600);
      try {
        for await (const chunk of content) await handle.writeFile(chunk);
        await handle.chmod(mode);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async link(path, target) {
      links.push([path, target]);
    },
  };
  const manifest = await readArchive(file, sink);
  for (const [path, target] of links) await symlink(target, join(staged, path));
  for (const [path, mode] of directories.toReversed()) await chmod(join(staged, path), mode | 0o700);
  return manifest;
}
