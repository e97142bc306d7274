import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { Writable } from 'node:stream';

/** Which file, how large, how many, and who hears of trouble. */
export interface RotatingFileOptions {
  readonly file: string;
  /** A file that would grow beyond this is put aside first. */
  readonly maxBytes: number;
  /** Files in all, the current one included; at least 1. */
  readonly maxFiles: number;
  /** Hears of every failure, and undefined when writing works. What could not be written is dropped. */
  readonly onHealth: (error: Error | undefined) => void;
}

/**
 * Appends to a file (mode 0600) that is renamed to `<name>.1<ending>` when it is full; `.1` is the newest of the old ones. The file is opened
 * anew for each batch, so it may be deleted or moved at any time. The stream never fails; ending it writes what is queued.
 */
export function rotatingFile(options: RotatingFileOptions): Writable {
  const append = async (chunks: readonly Buffer[], done: () => void): Promise<void> => {
    try {
      await appendAll(options, chunks);
      options.onHealth(undefined);
    } catch (error) {
      options.onHealth(error as Error);
    }
    done();
  };
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void append([chunk], done),
    writev: (chunks, done) =>
      void append(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
}

async function appendAll(options: RotatingFileOptions, chunks: readonly Buffer[]): Promise<void> {
  let handle = await openForAppend(options.file);
  try {
    let { size } = await handle.stat();
    let batch: Buffer[] = [];
    for (const chunk of chunks) {
      if (size > 0 && size + chunk.length > options.maxBytes) {
        await handle.appendFile(Buffer.concat(batch));
        await handle.close();
        await rotate(options);
        handle = await openForAppend(options.file);
        [size, batch] = [0, []];
      }
      batch.push(chunk);
      size += chunk.length;
    }
    await handle.appendFile(Buffer.concat(batch));
  } finally {
    await handle.close();
  }
}

async function openForAppend(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'a', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return open(file, 'a', 0o600);
  }
}

async function rotate({ file, maxFiles }: RotatingFileOptions): Promise<void> {
  const ending = extname(file);
  const nameOf = (age: number): string => (age === 0 ? file : `${file.slice(0, file.length - ending.length)}.${age}${ending}`);
  await rm(nameOf(maxFiles - 1), { force: true });
  for (let age = maxFiles - 1; age > 0; age -= 1) {
    await rename(nameOf(age - 1), nameOf(age)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
