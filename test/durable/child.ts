/** A server process that crash tests may kill. Tells its parent the URL, or why it did not start. */
import { join } from 'node:path';
import { boot } from '../../config/boot.ts';
import { linesPlugin } from './lines-plugin.ts';
import { pagerPlugin } from './pager-plugin.ts';
import { scheduleCrashPlugin } from './schedule-crash-plugin.ts';

interface ChildOptions {
  readonly home: string;
  readonly modelUrl: string;
  readonly failpoint: string;
}

const { home, modelUrl, failpoint } = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;
const host = await boot({
  mode: 'serve',
  root: join(home, 'workspace'),
  cwd: home,
  env: { ORYXOS_FAILPOINT: failpoint },
  flags: { 'server.port': 0, 'logging.level': 'error', 'oryxos.providers': [{ name: 'scripted', baseUrl: modelUrl }] },
  plugins: [linesPlugin(home), pagerPlugin(), scheduleCrashPlugin(failpoint)],
});
process.send?.({ url: host.url });
process.on('SIGTERM', () => void host.close().then(() => process.exit(0)));
