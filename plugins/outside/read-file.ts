/** Reading one entry of an open directory. */
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { requireFile } from './entry.ts';
import { problem } from './file-problem.ts';
import type { Directory } from './open-directory.ts';

/** Never follows a link, never waits for the other end of a pipe, never adopts a terminal. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const PIECE_BYTES = 64 * 1024;

/** `path` names the file in messages. */
export interface ReadRules {
  readonly path: string;
  readonly allowHardlinks: boolean;
}

/** What a read may return. */
export interface ReadLimits extends ReadRules {
  readonly maxBytes: number;
}

/** A regular file that is open for reading, and what it was when it was opened. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly stat: Stats;
}

/**
 * Opens a regular file and closes it after use.
 *
 * Throws FileProblem for anything else, and for a file with several hard links: one of its other names may be a protected one.
 */
export async function withFile<T>(directory: Directory, name: string, rules: ReadRules, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const handle = await open(directory.at(name), FLAGS);
  try {
    await directory.check();
    const stat = await handle.stat();
    requireFile(stat, rules.path, 'read');
    if (stat.nlink > 1 && !rules.allowHardlinks) throw severalNames('read', rules.path);
    return await use({ handle, stat });
  } finally {
    await handle.close();
  }
}

/** The bytes of a regular file. Throws as `withFile`, and FileProblem for more than `maxBytes`. */
export const readFile = (directory: Directory, name: string, limits: ReadLimits): Promise<Uint8Array> =>
  withFile(directory, name, limits, (file) => bytesOf(file, limits));

/** All bytes of an open file. Throws FileProblem for more than `maxBytes`. */
export async function bytesOf({ handle, stat: { size } }: OpenFile, limits: ReadLimits): Promise<Uint8Array> {
  if (size > limits.maxBytes) throw tooLarge(limits, `${size}`);
  // Reads to the end, which may lie beyond the size that was announced: files grow, and some report 0.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(PIECE_BYTES)]);
    const room = buffer.length - length;
    const { bytesRead } = await handle.read(buffer, length, room, length);
    length += bytesRead;
    if (length > limits.maxBytes) throw tooLarge(limits, `more than ${limits.maxBytes}`);
    if (bytesRead === 0 || (length === size && bytesRead < room)) return buffer.subarray(0, length);
  }
}

/** All bytes of an open file, piece by piece; each piece is good until the next one is asked for. */
export async function* piecesOf({ handle }: OpenFile): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The refusal of a file that has other names. `done` tells what it is not: "read", "changed". */
export const severalNames = (done: string, path: string): Error =>
  problem(
    `A file with several hard links is not ${done}, because one of its other names may be outside the file whitelist (an administrator can set file.allow_hardlinks)`,
    path,
    { blockedBy: 'sandbox' },
  );

const tooLarge = ({ path, maxBytes }: ReadLimits, size: string): Error =>
  problem(`File too large to be read, cut off at ${maxBytes} bytes (it has ${size} bytes)`, path);
