/** plugins/conversations/index.ts — Talks to agents over HTTP: messages, runs in progress, questions of a run. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../secrets/contract.ts';
import { AskDesk } from './ask-desk.ts';
import { askRoutes } from './ask-routes.ts';
import { idempotencyKeys } from './idempotency.ts';
import { messageRoutes } from './message-routes.ts';
import { migrations } from './migrations.ts';
import { responder } from './responder.ts';
import { runRoutes } from './run-routes.ts';

export default definePlugin({
  name: 'conversations',
  requires: ['http', 'engine', 'sessions', 'agents', 'store', 'secrets'],
  async setup(ctx) {
    const { engine, sessions, agents, store, secrets } = ctx.services;
    await store.migrate(ctx.name, migrations);
    const idempotency = idempotencyKeys(store, ctx.clock);
    const asks = new AskDesk(ctx.clock);

    ctx.own('pending questions', () => asks.close());
    const respond = responder({ engine, idempotency, asks, clock: ctx.clock, mask: (text) => secrets.mask(text) });
    const routes = [...messageRoutes(respond, sessions, agents, ctx.clock), ...runRoutes(engine), ...askRoutes(asks)];
    for (const route of routes) ctx.register('route', route);
    ctx.provide('asks', asks);
    ctx.provide('idempotency', idempotency);
  },
});
