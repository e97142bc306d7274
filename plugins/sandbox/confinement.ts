import type { Confinement } from '../outside/contract.ts';
import { protectionOf } from './protected-path.ts';

/** The file whitelist and the protection of the workspace, for the programs that tools start. Read anew for each. */
export const confinement = (writable: () => readonly string[], root: string, protect: boolean): Confinement => ({
  name: 'sandbox',
  view: (agent) => ({
    writable: writable(),
    protection(path) {
      const protection = protectionOf(path, root, agent);
      if (protection === 'never') return 'hidden';
      return protection === 'write' && protect ? 'read-only' : undefined;
    },
  }),
});
