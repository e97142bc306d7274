/** Files for tools: resolve, have the very object judged, act on it by descriptor. */
import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { ToolRun } from '../../kernel/index.ts';
import type { Files } from './contract.ts';
import { codeOf } from './errno.ts';
import { problem, translated } from './file-problem.ts';
import { listDirectory } from './list-directory.ts';
import { Moved } from './open-directory.ts';
import type { Directory, OpenDirectory } from './open-directory.ts';
import { hasControlCharacters } from './printable.ts';
import { ProjectionProblem, project } from './project.ts';
import type { Projection } from './project.ts';
import { readFile } from './read-file.ts';
import { resolvedClaim } from './resolved-claim.ts';
import { writeFile } from './write-file.ts';

const MAX_WRITE_BYTES = 5 * 1024 * 1024;
/** How often an object that is being swapped is resolved and judged anew. */
const ATTEMPTS = 3;

/** What `createFiles` needs. */
export interface FilesOptions {
  /** An agent's own directory: absolute, links in it resolved or not. */
  readonly homeOf: (agent: string) => string;
  readonly openDirectory: OpenDirectory;
  readonly allowHardlinks: boolean;
}

/** The service `outside.files`. */
export function createFiles({ homeOf, openDirectory, allowHardlinks }: FilesOptions): Files {
  return {
    read: (path, run, { maxBytes }) =>
      attempt(path, run, 'read', 'File not found', ({ real }) => {
        if (real === '/') throw problem('Is a directory', path);
        return within(openDirectory(dirname(real)), (directory) => readFile(directory, basename(real), { path, maxBytes, allowHardlinks }));
      }),

    async write(path, content, run) {
      if (content.byteLength > MAX_WRITE_BYTES)
        throw problem(`Content too large (${content.byteLength} of at most ${MAX_WRITE_BYTES} bytes)`, path);
      await attempt(path, run, 'write', 'Directory not found', async ({ real, missing }) => {
        if (missing.some(hasControlCharacters)) throw problem('A new name must not contain control characters', path);
        if (real === '/') throw problem('Is a directory', path);
        const parents = missing.slice(0, -1);
        await within(parentOf(real, parents), (directory) => writeFile(directory, basename(real), content, path));
      });
    },

    list: (path, run, { max }) =>
      attempt(path, run, 'read', 'Directory not found', ({ real }) =>
        within(openDirectory(real), (directory) => listDirectory(directory, max, run.signal)),
      ),
  };

  /** Resolves and claims the path, then acts; starts over when something moved in between. */
  async function attempt<T>(
    path: string,
    run: ToolRun,
    access: 'read' | 'write',
    missing: string,
    act: (target: Projection) => Promise<T>,
  ): Promise<T> {
    for (let left = ATTEMPTS; ; left -= 1) {
      run.signal.throwIfAborted();
      const home = homeOf(run.turn.agent.name);
      const target = await projected(path, home);
      await run.claim(resolvedClaim(path, target.real, access));
      try {
        if (access === 'write') await requireHome(target, home, path);
        return await act(target);
      } catch (error) {
        if (!isMoved(error)) throw translated(error, path, missing);
        if (left === 1) throw problem('Changed while it was being opened, try again', path, { cause: error });
      }
    }
  }

  /** Opens the directory that will hold the file, making those on the way that do not exist. */
  async function parentOf(real: string, names: readonly string[]): Promise<Directory> {
    let top = dirname(real);
    for (let up = names.length; up > 0; up -= 1) top = dirname(top);
    let directory = await openDirectory(top);
    try {
      for (const name of names) {
        await made(directory, name);
        const next = await directory.enter(name);
        await directory.close();
        directory = next;
      }
    } catch (error) {
      await directory.close();
      throw error;
    }
    return directory;
  }
}

async function made(directory: Directory, name: string): Promise<void> {
  try {
    await mkdir(directory.at(name));
    await directory.sync();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

async function within<T>(opening: Promise<Directory>, use: (directory: Directory) => Promise<T>): Promise<T> {
  const directory = await opening;
  try {
    return await use(directory);
  } finally {
    await directory.close();
  }
}

async function projected(path: string, home: string): Promise<Projection> {
  try {
    return await project(path, home);
  } catch (error) {
    if (error instanceof ProjectionProblem) throw problem(`The path ${error.message}`, path, { cause: error });
    throw error;
  }
}

/** A run that outlives its agent must not bring the agent's directory back: it would stand in the way of a new agent of that name. */
async function requireHome({ real, missing }: Projection, home: string, path: string): Promise<void> {
  if (missing.length === 0) return;
  const place = await project(home, '/');
  if (place.missing.length === 0) return;
  if (real === place.real || real.startsWith(`${place.real}/`)) throw problem('The directory of this agent no longer exists', path);
}

/** O_NOFOLLOW met a link where none was, or a directory is another one by now. */
const isMoved = (error: unknown): boolean => error instanceof Moved || codeOf(error) === 'ELOOP';
