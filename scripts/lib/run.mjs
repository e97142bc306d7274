/** Child processes of the scripts. */
import { spawn } from 'node:child_process';

const KEPT_BYTES = 256 * 1024;

/**
 * Runs a program and keeps the end of what it prints.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, onTick?: (seconds: number) => void, tickMs?: number }} options
 * @returns {Promise<{ code: number, output: string, seconds: number }>} rejects only when the program cannot be started
 */
export function run(file, args, { cwd, env = process.env, onTick, tickMs = 10_000 }) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_BYTES);
    };
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ticker = onTick === undefined ? undefined : setInterval(() => onTick(Math.round(seconds())), tickMs);
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.on('error', (error) => {
      clearInterval(ticker);
      reject(error);
    });
    child.on('close', (code) => {
      clearInterval(ticker);
      resolve({ code: code ?? 1, output, seconds: seconds() });
    });
  });
}
