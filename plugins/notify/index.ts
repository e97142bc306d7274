/** Sends messages to people: keeps the channels that administrators register. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type {} from '../outside/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from '../agents/contract.ts';
import { failureChannelCheck } from './agent-check.ts';
import { ChannelBook } from './channel-book.ts';
import { channelRepository } from './channel-repository.ts';
import { channelRoutes } from './channel-routes.ts';
import { channelTestRoute } from './channel-test-route.ts';
import type {} from './contract.ts';
import { migrations } from './migrations.ts';
import { openOutbox } from './open-outbox.ts';

export default definePlugin({
  name: 'notify',
  requires: ['store', 'secrets', 'http', 'outside'],
  configAt: { retentionDays: 'notify.retention-days' },
  config: {
    type: 'object',
    properties: {
      retentionDays: { type: 'integer', minimum: 0, maximum: 36_500, default: 90 },
      delivers: { type: 'boolean', default: true },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, secrets, http, outside } = ctx.services;
    await store.migrate(ctx.name, migrations);

    const channels = new ChannelBook(ctx, { repository: channelRepository(store), secrets, outside });
    await channels.load();
    ctx.provide('notifyChannels', channels);
    for (const route of channelRoutes(channels)) ctx.register('route', route);
    ctx.register('agentCheck', failureChannelCheck(channels));
    const notifications = await openOutbox(ctx, channels, ctx.config);
    ctx.register(
      'route',
      channelTestRoute(channels, notifications, (text) => secrets.mask(text)),
    );
    // Adapters are plugins of their own, and all of them are there when the port opens.
    ctx.own(
      'check of channels',
      http.onListening(() => channels.warnAboutUnusable()),
    );
  },
});
