/** Files for tools: resolve, have the very object judged, act on it by descriptor. */
import type { Clock, ToolRun } from '../../kernel/index.ts';
import { appendFile } from './append-file.ts';
import { createAttempt } from './attempt.ts';
import type { Target } from './attempt.ts';
import type { Files } from './contract.ts';
import { statOf } from './entry.ts';
import type { Place } from './entry.ts';
import { naming, problem } from './file-problem.ts';
import { listDirectory } from './list-directory.ts';
import { copyFile, moveFile, removeFile } from './move-file.ts';
import type { CopyLimits } from './move-file.ts';
import type { OpenDirectory } from './open-directory.ts';
import { createParents, madeDirectory, requirePrintable, within } from './parent-directory.ts';
import { bytesOf, readFile, withFile } from './read-file.ts';
import { resolvedClaim } from './resolved-claim.ts';
import { walkFrom } from './walk-files.ts';
import { pourInto, replaceFile } from './write-file.ts';

const MAX_WRITE_BYTES = 5 * 1024 * 1024;
const MAX_COPY_BYTES = 1024 * 1024 * 1024;

/** What `createFiles` needs. */
export interface FilesOptions {
  /** An agent's own directory: absolute, links in it resolved or not. */
  readonly homeOf: (agent: string) => string;
  readonly openDirectory: OpenDirectory;
  /** Looked up at each call. */
  readonly allowHardlinks: boolean;
  readonly clock: Clock;
}

/** The service `outside.files`. */
export function createFiles(options: FilesOptions): Files {
  const { homeOf, openDirectory, clock } = options;
  const rules = (): Pick<FilesOptions, 'allowHardlinks'> => ({ allowHardlinks: options.allowHardlinks });
  const attempt = createAttempt(homeOf);
  const parent = createParents(openDirectory);
  const into = (target: Target) => (use: (to: Place) => Promise<void>) =>
    parent.made(target, (directory, name) => use({ directory, name, path: target.path }));
  const copyLimits = (run: ToolRun): CopyLimits => ({ maxBytes: MAX_COPY_BYTES, ...rules(), signal: run.signal });
  return {
    read: (path, run, { maxBytes }) =>
      attempt([{ path, access: ['read'] }], run, (target) =>
        parent.existing(target, (directory, name) => readFile(directory, name, { path, maxBytes, ...rules() })),
      ),

    stat: (path, run) =>
      attempt([{ path, access: ['read'] }], run, async (target) => {
        if (target.missing.length > 0) return undefined;
        if (target.real === '/') return { kind: 'directory', size: 0 };
        return parent.existing(target, statOf);
      }),

    async write(path, content, run) {
      requireSize(content, path);
      await attempt([{ path, access: ['write'] }], run, (target) =>
        parent.made(target, (directory, name) => replaceFile(directory, name, { path, fill: (handle) => handle.writeFile(content) })),
      );
    },

    writePieces: (path, pieces, run, { maxBytes }) =>
      attempt([{ path, access: ['write'] }], run, (target) =>
        parent.made(target, (directory, name) => pourInto({ directory, name, path }, pieces, { maxBytes, signal: run.signal })),
      ),

    update: (path, run, { maxBytes }, change) =>
      attempt([{ path, access: ['read', 'write'] }], run, (target) =>
        parent.existing(target, (directory, name) =>
          withFile(directory, name, { path, ...rules() }, async (file) => {
            const content = change(await bytesOf(file, { path, maxBytes, ...rules() }));
            requireSize(content, path);
            await replaceFile(directory, name, { path, only: file.stat, fill: (handle) => handle.writeFile(content) });
          }),
        ),
      ),

    async append(path, content, run) {
      requireSize(content, path);
      await attempt([{ path, access: ['write'] }], run, (target) =>
        parent.made(target, (directory, name) => appendFile(directory, name, content, { path, ...rules() })),
      );
    },

    makeDirectory: (path, run) =>
      attempt([{ path, access: ['write'] }], run, ({ real, missing }) =>
        naming(path, 'Directory not found', async () => {
          requirePrintable(missing, path);
          await within(madeDirectory(openDirectory, real, missing), (directory) => directory.check());
        }),
      ),

    remove: (path, run) =>
      attempt([{ path, access: ['write'], isEntry: true }], run, (target) =>
        parent.existing(target, (directory, name) => removeFile({ directory, name, path })),
      ),

    move: (from, to, run) =>
      attempt([entry(from), entry(to)], run, (source, target) =>
        parent.existing(source, (directory, name) => moveFile({ directory, name, path: from }, into(target), copyLimits(run))),
      ),

    copy: (from, to, run) =>
      attempt(
        [
          { path: from, access: ['read'] },
          { path: to, access: ['write'] },
        ],
        run,
        (source, target) =>
          parent.existing(source, (directory, name) => copyFile({ directory, name, path: from }, into(target), copyLimits(run))),
      ),

    list: (path, run, { max }) =>
      attempt([{ path, access: ['read'] }], run, ({ real }) =>
        naming(path, 'Directory not found', () => within(openDirectory(real), (directory) => listDirectory(directory, max, run.signal))),
      ),

    walk: (path, run, walk) =>
      attempt([{ path, access: ['read'] }], run, (target) =>
        naming(path, 'Path not found', () =>
          walkFrom(target, openDirectory, walk, {
            permits: (real) => run.permits(resolvedClaim(path, real, 'read')),
            signal: run.signal,
            ...rules(),
            clock,
          }),
        ),
      ),
  };
}

/** A move acts on the entries themselves, so a link is moved and replaced as a link. */
const entry = (path: string) => ({ path, access: ['write'], isEntry: true }) as const;

function requireSize({ byteLength }: Uint8Array, path: string): void {
  if (byteLength > MAX_WRITE_BYTES) throw problem(`Content too large (${byteLength} of at most ${MAX_WRITE_BYTES} bytes)`, path);
}
