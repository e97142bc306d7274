/** `npm run dev`: the server from the sources, started again whenever one of them changes. Arguments go to `oryxos serve`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot, runScript, setup } from './lib/setup.mjs';

await runScript(async () => {
  await setup({ builds: false });
  const tsx = join(projectRoot, 'node_modules', '.bin', 'tsx');
  const args = ['watch', '--clear-screen=false', 'config/bin.ts', 'serve', ...process.argv.slice(2)];
  const child = spawn(tsx, args, { cwd: projectRoot, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 0));
  });
});
