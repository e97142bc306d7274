/** What happens when the core itself fails outside of every call: it is written down without secrets, and the process ends. */
import { definePlugin, type Plugin } from '../kernel/index.ts';
import { wasTaken } from '../plugins/loader/strays.ts';

/** Long enough to write the line of the log into its file. */
const FLUSH_MS = 100;

/**
 * A plugin that ends the process, with exit code 1, after a failure that no plugin caused: nobody knows in which state it is then. A supervisor
 * starts it anew, and unfinished runs go on.
 */
export function ownFault(exit: (code: number) => void): Plugin {
  return definePlugin({
    name: 'own-fault',
    setup(ctx) {
      const end = (error: unknown): void => {
        if (wasTaken(error)) return;
        ctx.log.error('OryxOS has a fault of its own and ends; unfinished runs go on at the next start', { error });
        ctx.clock.after(FLUSH_MS, () => exit(1));
      };
      process.on('uncaughtException', end);
      process.on('unhandledRejection', end);
      ctx.own('failures of the process', () => {
        process.off('uncaughtException', end);
        process.off('unhandledRejection', end);
      });
    },
  });
}
