/** `npm run check`: types, lint, format, architecture. Prints what is wrong; everything runs side by side and stays under 20 s. */
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { projectRoot, runScript, setup } from './lib/setup.mjs';

const bin = (name) => join(projectRoot, 'node_modules', '.bin', name);
const CHECKS = [
  ['types', bin('tsc'), ['--noEmit', '-p', 'tsconfig.json']],
  ['lint', bin('oxlint'), ['--type-aware']],
  ['format', bin('biome'), ['format', '.']],
  ['architecture', bin('mocha'), ['--import=tsx', '--timeout', '30000', 'test/architecture.test.ts']],
];

await runScript(async () => {
  await setup({ builds: false });
  const results = await Promise.all(
    CHECKS.map(async ([name, file, args]) => {
      const { code, output, seconds } = await run(file, args, { cwd: projectRoot });
      if (code !== 0) console.log(output.trim());
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
      return code;
    }),
  );
  return results.every((code) => code === 0) ? 0 : 1;
});
