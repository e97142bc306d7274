/** Writes a tar file and keeps account of what went in. */
import { createHash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { conflict } from '../../kernel/index.ts';
import type { ManifestEntry } from './manifest.ts';
import { encodeHead, padding, TAR_END } from './tar-header.ts';
import type { Found } from './workspace-entries.ts';

const CHUNK_BYTES = 256 * 1024;

/** One archive in the making; whoever opened the handle closes it. */
export class ArchiveWriter {
  readonly #handle: FileHandle;
  readonly #entries: ManifestEntry[] = [];
  #bytes = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** What has been added so far, in order. */
  get entries(): readonly ManifestEntry[] {
    return this.#entries;
  }

  /** Bytes written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a directory or a link. */
  async add(found: Found): Promise<void> {
    await this.#write(encodeHead({ ...found, size: 0 }));
    const { path, type, mode, target } = found;
    this.#entries.push({ path, type, mode, size: 0, sha256: type === 'link' ? sha256(target) : '' });
  }

  /**
   * Adds a file with the content that it has when it is opened. Rejects as `open` does, before anything is written, and with ORYX_CONFLICT
   * when the file became shorter while it was read.
   *
   * @param source  where its content is; links are not followed
   */
  async addFile(found: Found, source: string): Promise<void> {
    const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat();
      await this.#write(encodeHead({ ...found, size }));
      const hash = createHash('sha256');
      const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, size));
      for (let done = 0; done < size; ) {
        const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - done), done);
        if (bytesRead === 0) throw conflict(`"${found.path}" became shorter while it was copied; try again.`);
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        await this.#write(chunk);
        done += bytesRead;
      }
      await this.#write(padding(size));
      this.#entries.push({ path: found.path, type: 'file', mode: found.mode, size, sha256: hash.digest('hex') });
    } finally {
      await handle.close();
    }
  }

  /** Adds a last text, which stands in no account, and the end. */
  async finish(path: string, content: string, modifiedAt: number): Promise<void> {
    const bytes = Buffer.from(content, 'utf8');
    await this.#write(encodeHead({ path, type: 'file', mode: 0o600, size: bytes.length, modifiedAt, target: '' }));
    await this.#write(bytes);
    await this.#write(padding(bytes.length));
    await this.#write(TAR_END);
    await this.#handle.sync();
  }

  async #write(bytes: Buffer): Promise<void> {
    let done = 0;
    while (done < bytes.length) done += (await this.#handle.write(bytes, done)).bytesWritten;
    this.#bytes += bytes.length;
  }
}

/** Of a text, in hexadecimal digits. */
export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
