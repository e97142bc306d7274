/** Two directories side by side, one allowed and one not, and runs whose claims are judged by that. */
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Claim, ToolRun } from '../../../kernel/index.ts';
import { OryxError, systemClock } from '../../../kernel/index.ts';
import type { Files } from '../../../plugins/outside/contract.ts';
import { createFiles } from '../../../plugins/outside/files.ts';
import type { FilesOptions } from '../../../plugins/outside/files.ts';
import { openDirectory } from '../../../plugins/outside/open-directory.ts';

/** What no test may ever see or change. */
export const SECRET = 'TOP-SECRET';

export interface Bench extends AsyncDisposable {
  readonly top: string;
  readonly allowed: string;
  readonly outside: string;
  readonly home: string;
  readonly files: Files;
  /** Every claim so far. */
  readonly claims: Claim[];
  /** A run whose guard allows what is below `allowed` and not called `.private`. */
  run(signal?: AbortSignal): ToolRun;
  text(path: string): Promise<string>;
  write(path: string, content: string): Promise<void>;
  link(target: string, path: string): Promise<void>;
  hardlink(target: string, path: string): Promise<void>;
}

/** `allowed/ok.txt`, `outside/secret.txt`, and the agent's directory `allowed/agents/a1`. */
export async function bench(options: Partial<FilesOptions> = {}): Promise<Bench> {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-files-')));
  const [allowed, outside] = [join(top, 'allowed'), join(top, 'outside')];
  const home = join(allowed, 'agents', 'a1');
  await mkdir(home, { recursive: true });
  await mkdir(outside);
  await writeFile(join(allowed, 'ok.txt'), 'OK');
  await writeFile(join(outside, 'secret.txt'), SECRET);
  const files = createFiles({
    homeOf: (agent) => join(allowed, 'agents', agent),
    openDirectory,
    allowHardlinks: false,
    clock: systemClock(),
    ...options,
  });
  const claims: Claim[] = [];
  const isAllowed = ({ value }: Claim): boolean => (value === allowed || value.startsWith(`${allowed}/`)) && !value.endsWith('.private');
  const run = (signal = new AbortController().signal): ToolRun => {
    const judged = {
      permits: async (claim: Claim): Promise<boolean> => isAllowed(claim),
      signal,
      turn: { agent: { name: 'a1' } },
      claim: async (claim: Claim): Promise<void> => {
        claims.push(claim);
        if (!isAllowed(claim)) throw new OryxError('ORYX_REFUSED', 'not allowed');
      },
    };
    return judged as unknown as ToolRun;
  };
  return {
    top,
    allowed,
    outside,
    home,
    files,
    claims,
    run,
    text: async (path) => Buffer.from(await files.read(path, run(), { maxBytes: 1_000_000 })).toString(),
    write: (path, content) => files.write(path, Buffer.from(content), run()),
    link: symlink,
    hardlink: link,
    [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }),
  };
}

/** The message of what `promise` rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { readonly code?: string; readonly blockedBy?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected a rejection');
}
