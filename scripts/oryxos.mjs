/** `npm run -s oryxos -- …`: the command line from a clone; set-up first, its progress on stderr. */
import { launch } from './lib/launch.mjs';

await launch(process.argv.slice(2), console.error);
