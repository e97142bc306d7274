/** `npm start`: set-up, then the server in this process. Arguments go to `oryxos serve`. */
import { launch } from './lib/launch.mjs';

await launch(['serve', ...process.argv.slice(2)], console.log);
