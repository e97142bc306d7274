/** Tells others when files changed. The only user of the file system's watchers. */
import { definePlugin, type Disposer } from '../../kernel/index.ts';
import type { WatchRequest } from './contract.ts';
import { watchDirectory } from './watch-directory.ts';

export default definePlugin({
  name: 'watch',
  configAt: { enabled: 'watch.enabled', polling: 'watch.polling', reconcileSeconds: 'watch.reconcile-seconds' },
  config: {
    type: 'object',
    properties: {
      enabled: { type: 'boolean', default: true, description: 'Off: nothing is watched and nothing compared, for commands that end soon.' },
      polling: {
        type: 'boolean',
        default: false,
        description: 'Look at files instead of waiting for events: for network and bind mounts.',
      },
      reconcileSeconds: { type: 'integer', minimum: 1, maximum: 3600, default: 30, description: 'How often everything is compared.' },
    },
    additionalProperties: false,
  },
  live: ['enabled', 'polling', 'reconcileSeconds'],
  setup(ctx) {
    const begun = async (request: WatchRequest): Promise<Disposer> => {
      const { enabled, polling, reconcileSeconds } = ctx.config;
      if (!enabled) return () => undefined;
      return watchDirectory(request, { polling, reconcileMs: reconcileSeconds * 1000, clock: ctx.clock, log: ctx.log });
    };
    ctx.provide('watch', {
      async watch(request) {
        let isOver = false;
        let stop = await begun(request);
        const forget = ctx.onConfig(async ({ enabled }) => {
          const next = await begun(request);
          const old = isOver ? next : stop;
          if (!isOver) stop = next;
          await old();
          // While nothing was watched, or between the two, something may have changed.
          if (enabled && !isOver) request.onReconcile();
        });
        return ctx.own(`watch ${request.directory}`, async () => {
          isOver = true;
          await forget();
          await stop();
        });
      },
    });
  },
});
