/** How the tests are started and what their result means. */
import { join } from 'node:path';

const ALL = 'dist/test/**/*.test.js';
const SLOW = 'dist/test/slow/**/*.test.js';
const TIMEOUT_MS = 30_000;
const SLOW_TIMEOUT_MS = 600_000;

/**
 * @param {string} root
 * @param {readonly string[]} args of the script
 * @returns {string[]} arguments for node
 */
export function mochaArguments(root, args) {
  const slow = args.includes('--slow');
  const passed = args.filter((arg) => arg !== '--slow').map(builtFile);
  const named = passed.some((arg) => arg.startsWith('dist/'));
  return [
    '--enable-source-maps',
    join(root, 'node_modules', 'mocha', 'bin', 'mocha.js'),
    '--forbid-only',
    '--reporter',
    join(root, 'scripts', 'lib', 'reporter.cjs'),
    '--timeout',
    String(slow ? SLOW_TIMEOUT_MS : TIMEOUT_MS),
    ...(named ? [] : [slow ? SLOW : ALL, ...(slow ? [] : ['--ignore', SLOW])]),
    ...passed,
  ];
}

/** The built file of a test's source; any other argument as it is. */
export function builtFile(arg) {
  const match = /^(?:\.\/)?(test\/.+)\.ts$/.exec(arg);
  return match === null ? arg : `dist/${match[1]}.js`;
}

/**
 * The environment of the tests: temporary files under `scratch`, and no setting of a server that the person runs.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} scratch
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(env, scratch) {
  const kept = Object.entries(env).filter(([name]) => !/^(?:ORYXOS|SERVER)_/.test(name));
  return { ...Object.fromEntries(kept), TMPDIR: scratch };
}

/**
 * The last lines of a test run and its exit code. Without statistics, or with a bad exit code and no failure in them, something outside
 * the tests went wrong, and that counts as one failure.
 *
 * @param {{ passes: number, failures: number, pending: number } | undefined} stats
 * @param {number} code exit code of mocha
 * @returns {{ lines: string[], exitCode: number }}
 */
export function summaryLine(stats, code) {
  const { passes = 0, failures = 0, pending = 0 } = stats ?? {};
  const outside = failures === 0 && (stats === undefined || code !== 0) ? 1 : 0;
  const lines = [];
  if (outside > 0) lines.push('The test run itself failed; see above.');
  if (pending > 0) lines.push(`${pending} skipped`);
  lines.push(`${passes} passed, ${failures + outside} failed`);
  return { lines, exitCode: code !== 0 ? code : failures + outside > 0 ? 1 : 0 };
}
