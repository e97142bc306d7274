/** `npm run setup`: installs and builds what has changed. `--install` stops before the build, `--force` builds in any case. */
import { runScript, setup } from './lib/setup.mjs';

const args = process.argv.slice(2);
await runScript(() => setup({ builds: !args.includes('--install'), force: args.includes('--force') }));
