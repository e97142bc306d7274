/** Directories held open: what is done through one is done in exactly that directory, whatever happens to the path meanwhile. */
import { constants, existsSync, readlinkSync } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Something moved between being resolved and being opened; resolving it again may succeed. */
export class Moved extends Error {
  override readonly name = 'Moved';
}

/** An open directory. Whoever opened it closes it. */
export interface Directory {
  /** The path that was checked when it was opened. */
  readonly real: string;
  /** A path for one system call: the entry of that name in this directory; "." is the directory itself. */
  at(name: string): string;
  /** Opens a subdirectory; throws for a link. */
  enter(name: string): Promise<Directory>;
  /** Throws Moved when `at` may no longer mean this directory. Call it before and after an effect. */
  check(): Promise<void>;
  /** Makes renames in it durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a directory by its real path. Throws Moved when another directory than that answers. */
export type OpenDirectory = (real: string) => Promise<Directory>;

/** Linux: an entry is named through the open descriptor, and the kernel itself tells where the descriptor is. */
export const openByDescriptor: OpenDirectory = async (real) => {
  const directory = anchored(await open(real, FLAGS), real);
  try {
    await directory.check();
  } catch (error) {
    await directory.close();
    throw error;
  }
  return directory;
};

/** Systems without /proc: before and after each effect the path must still be real and lead to the open directory. Narrows a race, does not close it. */
export const openByPath: OpenDirectory = async (real) => {
  const directory = named(await open(real, FLAGS), real);
  try {
    await directory.check();
  } catch (error) {
    await directory.close();
    throw error;
  }
  return directory;
};

/** The safest way that this system has. */
export const openDirectory: OpenDirectory = existsSync('/proc/self/fd') ? openByDescriptor : openByPath;

function anchored(handle: FileHandle, real: string): Directory {
  const link = `/proc/self/fd/${handle.fd}`;
  let checked = false;
  return {
    real,
    at: (name) => `${link}/${name}`,
    enter: async (name) => anchored(await open(`${link}/${name}`, FLAGS), join(real, name)),
    // Once is enough: afterwards everything goes through the descriptor. Bytes are compared, because decoding would merge invalid names.
    // Reading this link asks the kernel's memory only, so it may be synchronous.
    async check() {
      if (checked) return;
      if (!readlinkSync(link, { encoding: 'buffer' }).equals(Buffer.from(real))) throw new Moved('a directory was moved');
      checked = true;
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

function named(handle: FileHandle, real: string): Directory {
  return {
    real,
    at: (name) => join(real, name),
    enter: (name) => openByPath(join(real, name)),
    async check() {
      const [opened, there, path] = await Promise.all([handle.stat(), lstat(real), realpath(real)]);
      if (path !== real || opened.dev !== there.dev || opened.ino !== there.ino) throw new Moved('a directory was moved');
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}
