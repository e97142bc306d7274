/** Brings a checkout to the point where it runs: packages installed, sources built. Does nothing when nothing has changed. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, needsBuild } from './build.mjs';
import { SetupFailure } from './failure.mjs';
import { install, needsInstall } from './install.mjs';
import { withLock } from './lock.mjs';
import { nodeProblem } from './node-version.mjs';

/** The checkout that this script is part of. */
export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * @param {{ root?: string, print?: (line: string) => void, builds?: boolean, force?: boolean }} [options]
 *   `builds: false` only installs; `force` builds even when nothing has changed
 * @throws {SetupFailure}
 */
export async function setup({ root = projectRoot, print = console.log, builds = true, force = false } = {}) {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const problem = nodeProblem(process.versions.node, engines?.node ?? '>=20.19');
  if (problem !== undefined) throw new SetupFailure(problem);
  const isReady = () => needsInstall(root) === 'nothing' && (!builds || (!force && !needsBuild(root)));
  if (isReady()) return;
  await withLock(
    join(root, 'dist', '.setup.lock'),
    async () => {
      await install(root, print);
      if (builds && (force || needsBuild(root))) await build(root, print);
    },
    ({ pid }) => print(`Another set-up (pid ${pid}) is at work here; waiting for it.`),
  );
}

/**
 * Runs a script's main function; a failure is printed in clear words, with the end of what the failing program said, and ends with 1.
 *
 * @param {() => Promise<number | void>} main resolves with the exit code
 */
export async function runScript(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    const details = error.details.trim().split('\n').slice(-30).join('\n');
    if (details !== '') console.error(`${details}\n`);
    console.error(`Error: ${error.message}`);
    process.exitCode = 1;
  }
}
