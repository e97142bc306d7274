/** Walking through directories without following a link. */
import { opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../kernel/index.ts';
import type { Target } from './attempt.ts';
import type { DirectoryEntry, Walk, WalkCut, WalkedFile } from './contract.ts';
import type { Place } from './entry.ts';
import { codeOf } from './errno.ts';
import { isMoved, naming, problem } from './file-problem.ts';
import { kindOf } from './list-directory.ts';
import type { Directory, OpenDirectory } from './open-directory.ts';
import { within } from './parent-directory.ts';
import { readFile } from './read-file.ts';

const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 64;
const MAX_MS = 10_000;
/** How long the walk may hold the process before others get their turn. */
const SLICE_MS = 10;

/** What a walk depends on. */
export interface WalkRules {
  /** Whether the guards permit to read what is at this real path. */
  permits(real: string): Promise<boolean>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly allowHardlinks: boolean;
}

/** Walks from a directory, or visits one file. Resolves with what was left out because there is too much. Rejects as `visit` does, and on abort. */
export async function walkFrom(target: Target, open: OpenDirectory, walk: Walk, rules: WalkRules): Promise<readonly WalkCut[]> {
  const root = await open(target.real).catch((error: unknown) => {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (root === undefined) {
    await within(open(dirname(target.real)), async (directory) =>
      walk.visit(fileOf({ directory, name: basename(target.real), path: target.path }, '', rules)),
    );
    return [];
  }
  const walker = new Walker(walk, rules);
  await within(Promise.resolve(root), (directory) => walker.directory(directory, '', 1));
  return walker.cuts;
}

/** A file as a visitor sees it. Whatever keeps it from being read is a FileProblem. */
const fileOf = ({ directory, name, path }: Place, relative: string, { allowHardlinks }: WalkRules): WalkedFile => ({
  path: relative,
  read: (maxBytes) =>
    naming(path, 'File not found', () => readFile(directory, name, { path, maxBytes, allowHardlinks })).catch((error: unknown) => {
      throw isMoved(error) ? problem('Changed while it was being opened, try again', path, { cause: error }) : error;
    }),
});

/** One walk. */
class Walker {
  readonly #walk: Walk;
  readonly #rules: WalkRules;
  readonly #cuts = new Set<WalkCut>();
  readonly #end: number;
  #sliceEnd: number;
  #seen = 0;

  constructor(walk: Walk, rules: WalkRules) {
    this.#walk = walk;
    this.#rules = rules;
    const now = rules.clock.monotonic();
    this.#end = now + MAX_MS;
    this.#sliceEnd = now + SLICE_MS;
  }

  get cuts(): readonly WalkCut[] {
    return [...this.#cuts];
  }

  /** Answers false when the walk is over. */
  async directory(directory: Directory, prefix: string, depth: number): Promise<boolean> {
    for (const { name, kind } of await this.#entriesOf(directory)) {
      if (!(await this.#mayGoOn())) return false;
      const path = prefix + name;
      if (kind === 'file' && !(await this.#file(directory, name, path))) return false;
      if (kind === 'directory' && !(await this.#below(directory, name, path, depth))) return false;
    }
    return true;
  }

  async #file(directory: Directory, name: string, path: string): Promise<boolean> {
    if (!this.#walk.wants(path) || !(await this.#rules.permits(join(directory.real, name)))) return true;
    return this.#walk.visit(fileOf({ directory, name, path }, path, this.#rules));
  }

  async #below(parent: Directory, name: string, path: string, depth: number): Promise<boolean> {
    if (!this.#walk.enters(path) || !(await this.#rules.permits(join(parent.real, name)))) return true;
    if (depth === MAX_DEPTH) {
      this.#cuts.add('depth');
      return true;
    }
    // What cannot be opened, has become a link or has gone is not part of the walk.
    const directory = await parent.enter(name).catch(() => undefined);
    if (directory === undefined) return true;
    try {
      return await this.directory(directory, `${path}/`, depth + 1);
    } finally {
      await directory.close();
    }
  }

  /** Sorted by name; of a directory with more than may be looked at, some. */
  async #entriesOf(directory: Directory): Promise<readonly DirectoryEntry[]> {
    const entries: DirectoryEntry[] = [];
    try {
      for await (const entry of await opendir(directory.at('.'), { bufferSize: 256 })) {
        if (this.#seen === MAX_ENTRIES) {
          this.#cuts.add('entries');
          break;
        }
        this.#seen += 1;
        entries.push({ name: entry.name, kind: kindOf(entry) });
      }
      await directory.check();
    } catch {
      // Unreadable or moved away: like a directory that could not be opened.
      return [];
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #mayGoOn(): Promise<boolean> {
    const { clock, signal } = this.#rules;
    signal.throwIfAborted();
    const now = clock.monotonic();
    if (now >= this.#sliceEnd) {
      await breathe();
      this.#sliceEnd = clock.monotonic() + SLICE_MS;
    }
    if (now < this.#end) return true;
    this.#cuts.add('time');
    return false;
  }
}
