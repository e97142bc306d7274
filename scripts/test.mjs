/**
 * `npm test`: set-up, then every test of the built output; `--slow` runs the slow ones instead. Other arguments go to mocha, and a test's
 * source file stands for its built one: `npm test -- test/kernel/scope.test.ts --grep closes`.
 * The last line is `N passed, N failed`; the exit code is 0 only when all tests passed and nothing was left open.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot, runScript, setup } from './lib/setup.mjs';
import { mochaArguments, summaryLine, testEnvironment } from './lib/test-run.mjs';

await runScript(async () => {
  await setup();
  const scratch = mkdtempSync(join(tmpdir(), 'oryxos-test-'));
  try {
    return await runTests(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

async function runTests(scratch) {
  const statsFile = join(scratch, 'stats.json');
  const child = spawn(process.execPath, mochaArguments(projectRoot, process.argv.slice(2)), {
    cwd: projectRoot,
    env: { ...testEnvironment(process.env, scratch), ORYXOS_TEST_STATS: statsFile },
    stdio: 'inherit',
  });
  const forward = (signal) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  const { lines, exitCode } = summaryLine(statsOf(statsFile), code);
  for (const line of lines) console.log(line);
  return exitCode;
}

function statsOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
