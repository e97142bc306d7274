/** Starts the program from the built output, in this process. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, runScript, setup } from './setup.mjs';

/**
 * Set-up, then the program as if it had been called with `args`.
 *
 * @param {readonly string[]} args
 * @param {(line: string) => void} print receives the progress of the set-up
 */
export async function launch(args, print) {
  await runScript(() => setup({ print }));
  if (process.exitCode !== 0) return;
  const bin = join(projectRoot, 'dist', 'config', 'bin.js');
  process.argv.splice(1, process.argv.length, bin, ...args);
  await import(pathToFileURL(bin).href);
}
