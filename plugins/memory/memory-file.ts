/** Files that hold memories, read and written so that nothing else can be reached through them. */
import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Clock } from '../../kernel/index.ts';
import { OryxError, conflict, notFound } from '../../kernel/index.ts';
import type { Workspace } from '../workspace/contract.ts';
import { readDocument } from './memory-document.ts';
import type { MemoryDocument } from './memory-document.ts';

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MAX_BYTES = 10 * 1024 * 1024;
/** How often an update is computed anew because somebody else wrote the file meanwhile. */
const ATTEMPTS = 10;

/** Files whose text is kept between reads. */
const MAX_CACHED = 256;
/** A file that changed this recently may change again without another time or size: file systems count time in steps. */
const RECENT_MS = 100;

/** A file's text and what it means. */
export interface MemoryText {
  readonly text: string;
  readonly document: MemoryDocument;
}
interface Cached extends MemoryText {
  readonly key: string;
}

/** Reads and rewrites MEMORY.md files: one writer at a time per file, and edits that others make meanwhile are kept. */
export class MemoryFiles {
  readonly #workspace: Workspace;
  readonly #clock: Clock;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #cache = new Map<string, Cached>();

  constructor(workspace: Workspace, clock: Clock) {
    this.#workspace = workspace;
    this.#clock = clock;
  }

  /** The file as it is on disk now, undefined when there is no such file. Throws ORYX_CONFLICT when it is not a plain file that can be trusted. */
  async read(file: string): Promise<MemoryText | undefined> {
    const key = keyOf(file);
    if (key === undefined) return void this.#cache.delete(file);
    const cached = this.#cache.get(file);
    if (cached?.key === key.text) return cached;
    const text = (await this.#load(file))?.toString('utf8');
    if (text === undefined) return undefined;
    const read = { key: key.text, text, document: readDocument(text) };
    if (key.changedAt < this.#clock.now() - RECENT_MS) this.#remember(file, read);
    return read;
  }

  #remember(file: string, read: Cached): void {
    this.#cache.delete(file);
    this.#cache.set(file, read);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
  }

  /**
   * Replaces the text by what `change` makes of the newest one ("" for a missing file), atomically. `change` may be called several times;
   * what it throws is passed on and nothing is written.
   *
   * Throws ORYX_NOT_FOUND when the directory does not exist, ORYX_CONFLICT as `read` does and for a file that is not UTF-8, and what
   * `Workspace.writeFile` throws.
   */
  update(file: string, change: (text: string) => string): Promise<void> {
    const before = this.#queues.get(file) ?? Promise.resolve();
    // A writer that failed has told its own caller.
    const turn = before.catch(() => undefined).then(() => this.#rewrite(file, change));
    this.#queues.set(file, turn);
    const leave = (): void => {
      if (this.#queues.get(file) === turn) this.#queues.delete(file);
    };
    turn.then(leave, leave);
    return turn;
  }

  async #rewrite(file: string, change: (text: string) => string): Promise<void> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      this.#requireDirectory(file);
      const before = await this.#load(file);
      const text = before?.toString('utf8') ?? '';
      if (before && !before.equals(Buffer.from(text))) throw conflict(`${this.#shown(file)} is not UTF-8 text; convert it`);
      const after = change(text);
      // Read once more, as late as possible: whoever saved in between is not overwritten.
      if (!isSame(before, await this.#load(file))) continue;
      await this.#workspace.writeFile(file, after);
      this.#cache.delete(file);
      return;
    }
    throw conflict(`${this.#shown(file)} keeps changing; try again`);
  }

  async #load(file: string): Promise<Buffer | undefined> {
    const handle = await this.#open(file);
    if (handle === undefined) return undefined;
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.nlink > 1) throw conflict(`${this.#shown(file)} is not a plain file with one name; replace it by one`);
      if (stat.size > MAX_BYTES) throw conflict(`${this.#shown(file)} is larger than 10 MiB; shorten it`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  async #open(file: string): Promise<FileHandle | undefined> {
    const directory = lstatSync(dirname(file), { throwIfNoEntry: false });
    if (directory && !directory.isDirectory())
      throw conflict(`${this.#shown(dirname(file))} is not a directory of its own; replace it by one`);
    try {
      return await open(file, FLAGS);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      if (code === 'ELOOP') throw conflict(`${this.#shown(file)} is a link; replace it by a plain file`);
      throw new OryxError('ORYX_STORE_UNAVAILABLE', `${this.#shown(file)} cannot be read (${code ?? 'unknown error'})`, { cause: error });
    }
  }

  /** An agent that was deleted while it runs has no memory any more; making its directory again would stand in the way of a new agent. */
  #requireDirectory(file: string): void {
    if (keyOf(dirname(file)) === undefined)
      throw notFound(`The directory ${this.#shown(dirname(file))} no longer exists; nothing was saved`);
  }

  #shown(path: string): string {
    return relative(this.#workspace.root, path);
  }
}

/** What tells versions of a file apart, and when it changed last. Synchronous: one look at a local disk costs less than the way to another thread. */
function keyOf(path: string): { readonly text: string; readonly changedAt: number } | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const text = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.nlink].join(':');
  return { text, changedAt: Number(stat.ctimeMs) };
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
