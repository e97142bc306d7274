/** Reading one entry of an open directory. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { problem } from './file-problem.ts';
import type { Directory } from './open-directory.ts';

/** Never follows a link, never waits for the other end of a pipe, never adopts a terminal. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const PIECE_BYTES = 64 * 1024;

/** What a read may return; `path` names the file in messages. */
export interface ReadLimits {
  readonly path: string;
  readonly maxBytes: number;
  readonly allowHardlinks: boolean;
}

/**
 * The bytes of a regular file.
 *
 * Throws FileProblem for anything else, for more than `maxBytes`, and for a file with several hard links: one of its other names may be a protected one.
 */
export async function readFile(directory: Directory, name: string, limits: ReadLimits): Promise<Uint8Array> {
  const handle = await open(directory.at(name), FLAGS);
  try {
    await directory.check();
    const stat = await handle.stat();
    if (stat.isDirectory()) throw problem('Is a directory', limits.path);
    if (!stat.isFile())
      throw problem('Only regular files can be read, and this is a pipe, a socket or a device', limits.path, { blockedBy: 'sandbox' });
    if (stat.nlink > 1 && !limits.allowHardlinks) throw severalNames(limits.path);
    if (stat.size > limits.maxBytes) throw tooLarge(limits, `${stat.size}`);
    return await bytesOf(handle, stat.size, limits);
  } finally {
    await handle.close();
  }
}

/** Reads to the end, which may lie beyond the size that was announced: files grow, and some report 0. */
async function bytesOf(handle: FileHandle, size: number, limits: ReadLimits): Promise<Uint8Array> {
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

const tooLarge = ({ path, maxBytes }: ReadLimits, size: string): Error =>
  problem(`File too large to be read, cut off at ${maxBytes} bytes (it has ${size} bytes)`, path);

const severalNames = (path: string): Error =>
  problem(
    'A file with several hard links is not read, because one of its other names may be outside the file whitelist (an administrator can set file.allow_hardlinks)',
    path,
    { blockedBy: 'sandbox' },
  );
