/** An agent's AGENT.md on disk: is it there, is it usable, what does it say. */
import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { MAX_AGENT_BYTES } from './derive.ts';

const FILE = 'AGENT.md';
/** The coarsest clock of a file system ticks every 2 s. */
const OLD_MS = 3000;
/** Errors of the machine, not of the file: they say nothing about it. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EIO', 'ESTALE'];

/** What a look at an AGENT.md found. `glance` is what `glanceAt` would have answered just before. */
export type AgentFile =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly version: string;
      readonly glance: string;
      /** Last changed well before this process began, so that no write can hide behind the same glance. */
      readonly old: boolean;
    }
  /** There is no agent of that name. */
  | { readonly kind: 'absent'; readonly glance: string }
  /** Something is there that cannot be read as an agent; `message` says what to do. */
  | { readonly kind: 'unusable'; readonly message: string; readonly glance: string }
  /** Nothing can be said now; ask again later. */
  | { readonly kind: 'unknown'; readonly code: string };

/** SHA-256 of an AGENT.md, hex: its version. */
export const versionOf = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/**
 * A cheap look at `<directory>/<name>/AGENT.md`: as long as it answers the same, the content has not changed, except by writes within the
 * file system's own clock tick. Never throws.
 */
export async function glanceAt(directory: string, name: string): Promise<string> {
  try {
    const file = join(directory, name, FILE);
    const own = await lstat(file, { bigint: true });
    return glanceOf(own.isSymbolicLink() ? await stat(file, { bigint: true }) : own);
  } catch (error) {
    const folder = await lstat(join(directory, name), { bigint: true }).catch(() => undefined);
    return `${codeOf(error)}:${folder === undefined ? 'none' : glanceOf(folder)}`;
  }
}

/** Reads the AGENT.md of `name` beneath the real path `directory`. Never throws. */
export async function readAgentFile(directory: string, name: string): Promise<AgentFile> {
  const folder = join(directory, name);
  try {
    if ((await lstat(folder)).isDirectory() && !ignoresCase) {
      const file = await readRegular(join(folder, FILE), constants.O_NOFOLLOW).catch(() => undefined);
      if (file !== undefined) return file;
    }
    // Something is unusual: find out what, in more steps.
    const refusal = await refusalOf(directory, name);
    if (refusal === 'absent') return { kind: 'absent', glance: await glanceAt(directory, name) };
    if (refusal !== undefined) return { kind: 'unusable', message: refusal, glance: await glanceAt(directory, name) };
    return await readRegular(join(folder, FILE), 0);
  } catch (error) {
    const code = codeOf(error);
    if (PASSING.includes(code)) return { kind: 'unknown', code };
    const glance = await glanceAt(directory, name);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', glance };
    return { kind: 'unusable', message: `AGENT.md cannot be read (${code}): check its permissions`, glance };
  }
}

async function readRegular(path: string, flags: number): Promise<AgentFile> {
  // Opening a FIFO without O_NONBLOCK would wait for a writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  const stats = await file.stat({ bigint: true });
  // The glance from before reading: a write during the read makes the next look differ.
  const glance = glanceOf(stats);
  if (!stats.isFile()) return { kind: 'unusable', message: 'AGENT.md is not a regular file', glance };
  if (stats.size > MAX_AGENT_BYTES) return { kind: 'unusable', message: 'the file is larger than 1 MB', glance };
  const content = await readUpTo(file, Number(stats.size));
  const text = decoded(content);
  if (text === undefined) return { kind: 'unusable', message: 'the file is not UTF-8 text: save it as UTF-8', glance };
  // The file's time comes from the file system, so it is compared with the real start of this process.
  const old = Number(stats.ctimeMs) < performance.timeOrigin - OLD_MS;
  return { kind: 'text', text, version: versionOf(content), glance, old };
}

async function readUpTo(file: FileHandle, size: number): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(content, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return content.subarray(0, filled);
}

/** Why there is no file to read: nothing is there, or something else, or a link that leads out. */
async function refusalOf(directory: string, name: string): Promise<string | undefined> {
  const folder = join(directory, name);
  const file = join(folder, FILE);
  const inside = async (path: string): Promise<boolean> => (await realpath(path)).startsWith(`${directory}${sep}`);
  try {
    if ((await lstat(folder)).isSymbolicLink() && !(await inside(folder))) {
      return 'the directory is a link that leads out of the agents directory: put the directory itself there';
    }
    if ((await lstat(file)).isSymbolicLink() && !(await inside(file))) {
      return 'AGENT.md is a link that leads out of the agents directory: put the file itself there';
    }
    if (!(await stat(file)).isFile()) return 'AGENT.md is not a regular file';
    return ignoresCase && !(await readdir(folder)).includes(FILE) ? await otherSpelling(folder) : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return (await isLink(file)) ? 'AGENT.md is a link to nothing' : await otherSpelling(folder);
    if (codeOf(error) === 'ENOTDIR') return 'absent';
    if (codeOf(error) === 'ELOOP') return 'AGENT.md is a link that leads to itself';
    throw error;
  }
}

const ignoresCase = process.platform === 'darwin' || process.platform === 'win32';

/** Only the exact name counts; a file that was clearly meant to be it is worth a hint. */
async function otherSpelling(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const found = names.find((entry) => entry.toLowerCase() === 'agent.md' && entry !== FILE);
  return found === undefined ? 'absent' : `the file is called "${found}": rename it to "AGENT.md"`;
}

const isLink = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;

/** Keeps a byte order mark, so that text and version belong together. */
function decoded(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

const glanceOf = (stats: BigIntStats): string => [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
