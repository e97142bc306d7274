/** A server process that runs one program for an agent and waits to be killed. */
import { startHost } from '../../harness/index.ts';

const { home, isolation } = JSON.parse(process.argv[2] ?? '{}') as { home: string; isolation: string };
const host = await startHost({ home, config: { 'shell.isolation': isolation, 'shell.allowed_commands': ['sh'] } });
host.model.willCall('shell', { executable: 'sh', arguments: ['-c', 'setsid sleep 986 & sleep 985 & sleep 984'] });
void host.say('a1', 'go');
process.send?.({ instance: host.kernel.service('workspace').instanceId });
