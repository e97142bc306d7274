/** `oryxos init` */
import { defineCommand } from './args.ts';
import { resolveRoot } from './workspace-root.ts';

/** Creates what is missing of a workspace and changes nothing that is there; doing it again is no error. */
export const initCommand = defineCommand({
  name: 'init',
  summary: 'Create a workspace with an agent that works without any key',
  examples: ['oryxos init', 'oryxos init --root ~/agents'],
  async run(args, { host, out }) {
    const root = await resolveRoot(args, host);
    const created = await host.initWorkspace(root);
    if (created.length === 0) {
      out.line(`Nothing to do: ${root} is a workspace already.`);
      return;
    }
    out.line(`Created in ${root}:`);
    for (const path of created) out.line(`  ${path}`);
    out.line('');
    out.line('Next: oryxos serve, and in another terminal: oryxos chat');
  },
});
