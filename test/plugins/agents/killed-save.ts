/** A process that saves files of the agent "a" and dies right before it puts a certain one in place. Arguments: home, number of the step. */
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { agentFile, startHost } from '../../harness/index.ts';

const [, , home = '', step = '1'] = process.argv;
const host = await startHost({ home });
let steps = 0;
const { rename, link } = fsp;
const dyingAt = <A extends unknown[]>(work: (...args: A) => Promise<void>) => {
  return async (...args: A): Promise<void> => {
    steps += 1;
    if (steps === Number(step)) process.kill(process.pid, 'SIGKILL');
    await work(...args);
  };
};
// Each existing file is kept under a second name and then replaced, a new one is only put in place.
Object.assign(fsp, { rename: dyingAt(rename), link: dyingAt(link) });
syncBuiltinESMExports();
const files = { 'new/three.txt': '3', 'one.txt': 'new 1', 'two.txt': 'new 2', 'AGENT.md': agentFile('a', 'description: new') };
await host.request('POST', '/api/v1/agents/a/files', { files });
