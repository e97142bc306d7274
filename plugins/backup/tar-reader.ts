/** Reads a tar file entry by entry, without holding more than a piece of it. */
import type { FileHandle } from 'node:fs/promises';
import { BLOCK, decodeHead, decodePax, TAR_END } from './tar-header.ts';
import type { TarHead } from './tar-header.ts';

const CHUNK_BYTES = 256 * 1024;
const MAX_PAX_BYTES = 64 * 1024;

/** An entry; its content can be read until the next entry is asked for, or be left alone. */
export interface TarEntry extends TarHead {
  content(): AsyncGenerator<Buffer, void, undefined>;
}

/** The file is not a whole tar file of the kind that backups are. */
export class TarProblem extends Error {}

/** Yields the entries in order. Throws TarProblem for anything that is malformed, cut short, or followed by something else. */
export async function* readTar(handle: FileHandle): AsyncGenerator<TarEntry, void, undefined> {
  const { size: total } = await handle.stat();
  let at = 0;
  let extra: ReadonlyMap<string, string> | undefined;
  for (;;) {
    const block = await exactly(handle, at, BLOCK, total);
    if (block.every((byte) => byte === 0)) break;
    const decoded = decodeHead(block);
    if (decoded === undefined) throw new TarProblem(`it is damaged at byte ${at}`);
    at += BLOCK;
    if (decoded.pax) {
      if (decoded.size > MAX_PAX_BYTES) throw new TarProblem(`it is damaged at byte ${at}`);
      extra = decodePax(await exactly(handle, at, decoded.size, total));
      if (extra === undefined) throw new TarProblem(`it is damaged at byte ${at}`);
      at += padded(decoded.size);
      continue;
    }
    const head = withExtra(decoded, extra);
    extra = undefined;
    const start = at;
    at += padded(head.size);
    if (!Number.isSafeInteger(at) || at > total) throw new TarProblem('it is cut short');
    yield { ...head, content: () => contentAt(handle, start, head.size, total) };
  }
  if (!(await exactly(handle, at, TAR_END.length, total)).equals(TAR_END) || at + TAR_END.length !== total)
    throw new TarProblem(`it goes on after its end, at byte ${at}`);
}

function withExtra({ pax: _pax, ...head }: TarHead & { readonly pax: boolean }, extra: ReadonlyMap<string, string> | undefined): TarHead {
  if (extra === undefined) return head;
  const size = extra.get('size');
  return {
    ...head,
    path: extra.get('path') ?? head.path,
    target: extra.get('linkpath') ?? head.target,
    size: size === undefined ? head.size : Number(size),
  };
}

async function* contentAt(handle: FileHandle, start: number, size: number, total: number): AsyncGenerator<Buffer, void, undefined> {
  for (let done = 0; done < size; done += CHUNK_BYTES) {
    yield await exactly(handle, start + done, Math.min(CHUNK_BYTES, size - done), total);
  }
}

async function exactly(handle: FileHandle, at: number, length: number, total: number): Promise<Buffer> {
  if (at + length > total) throw new TarProblem('it is cut short');
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  if (bytesRead !== length) throw new TarProblem('it is cut short');
  return buffer;
}

const padded = (size: number): number => Math.ceil(size / BLOCK) * BLOCK;
