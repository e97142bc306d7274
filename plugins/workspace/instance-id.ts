import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, replaceFile } from './atomic-file.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the workspace at `root`, from `<root>/.instance` (0600); made up and written when the file is missing or unreadable as an id. */
export async function instanceId(root: string): Promise<string> {
  const write = { file: join(root, '.instance'), content: `${randomUUID()}\n`, mode: 0o600, shownAs: '.instance' };
  await createFile(write);
  const id = (await readFile(write.file, 'utf8')).trim();
  if (UUID.test(id)) return id;
  await replaceFile(write);
  return write.content.trim();
}
