/** Adding to the end of one entry of an open directory. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { requireFile, writable } from './entry.ts';
import type { Directory } from './open-directory.ts';
import { severalNames } from './read-file.ts';
import type { ReadRules } from './read-file.ts';

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/**
 * Adds the content in one write to the end of the file, so that parts of several callers do not mix, and makes it durable.
 *
 * Throws FileProblem for anything but a regular file, a read-only one, and one with several hard links, whose other names would change too.
 */
export async function appendFile(directory: Directory, name: string, content: Uint8Array, rules: ReadRules): Promise<void> {
  await directory.check();
  const old = await writable(directory, name, rules.path);
  const handle = await open(directory.at(name), FLAGS, 0o666);
  try {
    await directory.check();
    const stat = await handle.stat();
    requireFile(stat, rules.path, 'written');
    if (stat.nlink > 1 && !rules.allowHardlinks) throw severalNames('changed', rules.path);
    await writeAll(handle, content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (old === undefined) await directory.sync();
}

/** One write, as a rule: the system takes less only when the disk is full. */
async function writeAll(handle: FileHandle, content: Uint8Array): Promise<void> {
  for (let done = 0; done < content.byteLength; ) done += (await handle.write(content, done)).bytesWritten;
}
