import type { Clock, Tool, ToolRun } from '../../kernel/index.ts';
import { defineTool, fail } from '../../kernel/index.ts';
import { FileProblem } from '../outside/contract.ts';
import type { Files, WalkCut, WalkedFile } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { GlobProblem, globPattern } from './glob-pattern.ts';
import type { MatcherThreads, Searcher } from './matcher-threads.ts';
import { PatternProblem } from './matcher-threads.ts';
import { MAX_RESULTS, cutNotes, shownPath } from './walked-path.ts';

const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_MS = 10_000;

/** `grep`: lines by what they contain. */
export const grepTool = (files: Files, threads: MatcherThreads, clock: Clock): Tool =>
  defineTool({
    name: 'grep',
    description:
      'Find lines of text files by a regular expression (RE2 syntax: no lookaround, no backreferences), in one file or in all below a ' +
      'directory. Use it to find where something is mentioned. Returns "file:line number:line", at most 200 of them; binary files, files ' +
      'over 2 MiB and links are passed over.',
    readOnly: true,
    idempotent: true,
    aliases: { directory: 'path', ignore_case: 'ignoreCase', case_insensitive: 'ignoreCase', fixed_string: 'fixed', glob: 'include' },
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'Matched against each line by itself; case counts.' },
        path: {
          type: 'string',
          minLength: 1,
          description: 'File or directory: absolute, or relative to the agent\'s own directory; "." is that directory.',
        },
        include: { type: 'string', minLength: 1, description: 'Only files like this, e.g. "*.ts" by name or "src/**/*.ts" by path.' },
        ignoreCase: { type: 'boolean', description: 'Upper and lower case are the same. Default false.' },
        fixed: { type: 'boolean', description: 'The pattern is plain text, not a regular expression. Default false.' },
      },
      required: ['pattern', 'path'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'read' }],
    async execute({ pattern, path, include, ignoreCase = false, fixed = false }, run) {
      const search = { text: pattern, ignoreCase, fixed };
      try {
        const filter = include === undefined ? undefined : globPattern(include.includes('/') ? include : `**/${include}`);
        return await fileResult(() =>
          inTime(clock, run, (signal, isLate) =>
            threads.search(search, signal, async (searcher) => {
              const found = new Findings(path, searcher, isLate);
              const cuts = await files.walk(path, run, {
                enters: (directory) => filter?.mayMatchBelow(directory) ?? true,
                wants: (file) => filter?.matches(file) ?? true,
                visit: (file) => found.add(file),
              });
              return found.text(cuts);
            }),
          ),
        );
      } catch (error) {
        if (error instanceof GlobProblem) return fail(`Bad arguments for grep: include ${error.message}`);
        if (error instanceof PatternProblem)
          return fail(`Bad arguments for grep: pattern is no regular expression of RE2 syntax (${error.message})`);
        throw error;
      }
    },
  });

/** What a search has found so far. */
class Findings {
  readonly #given: string;
  readonly #search: Searcher;
  readonly #isLate: () => boolean;
  readonly #lines: string[] = [];
  #skipped = 0;

  constructor(given: string, search: Searcher, isLate: () => boolean) {
    this.#given = given;
    this.#search = search;
    this.#isLate = isLate;
  }

  /** Answers false when there are enough. */
  async add(file: WalkedFile): Promise<boolean> {
    const bytes = await this.#bytesOf(file);
    if (bytes === undefined) return true;
    const shown = shownPath(this.#given, file.path);
    try {
      for (const { number, text } of await this.#search(bytes, MAX_RESULTS + 1 - this.#lines.length))
        this.#lines.push(`${shown}:${number}:${text}`);
    } catch (error) {
      if (!this.#isLate()) throw error;
      return false;
    }
    return this.#lines.length <= MAX_RESULTS;
  }

  text(cuts: readonly WalkCut[]): string {
    const all = new Set(this.#isLate() ? [...cuts, 'time' as const] : cuts);
    const notes = [
      ...(this.#lines.length > MAX_RESULTS ? [`(only the first ${MAX_RESULTS} matches are shown)`] : []),
      ...(this.#skipped > 0 ? [`(${this.#skipped} files were not searched: larger than 2 MiB, or not readable for tools)`] : []),
      ...cutNotes([...all]),
    ];
    return [...(this.#lines.length === 0 ? ['(no matches)'] : this.#lines.slice(0, MAX_RESULTS)), ...notes].join('\n');
  }

  /** A file that was named itself must be readable; others are counted. */
  async #bytesOf(file: WalkedFile): Promise<Uint8Array | undefined> {
    try {
      return await file.read(MAX_FILE_BYTES);
    } catch (error) {
      if (file.path === '' || !(error instanceof FileProblem)) throw error;
      this.#skipped += 1;
      return undefined;
    }
  }
}

/** Lets a search take its time and no longer; what was found until then counts. */
async function inTime<T>(clock: Clock, run: ToolRun, search: (signal: AbortSignal, isLate: () => boolean) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(MAX_MS, () => limit.abort(new FileProblem('The search took longer than 10 s')));
  try {
    return await search(AbortSignal.any([run.signal, limit.signal]), () => limit.signal.aborted);
  } finally {
    cancel();
  }
}
