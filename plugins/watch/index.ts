/** Tells others when files changed. The only user of the file system's watchers. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from './contract.ts';
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
  setup(ctx) {
    const { enabled, polling, reconcileSeconds } = ctx.config;
    ctx.provide('watch', {
      async watch(request) {
        if (!enabled) return () => undefined;
        const stop = await watchDirectory(request, { polling, reconcileMs: reconcileSeconds * 1000, clock: ctx.clock, log: ctx.log });
        return ctx.own(`watch ${request.directory}`, stop);
      },
    });
  },
});
