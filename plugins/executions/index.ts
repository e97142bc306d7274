/** plugins/executions/index.ts — Starts runs that nobody waits for and keeps their record. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../agents/contract.ts';
import type {} from '../conversations/contract.ts';
import type {} from '../http/contract.ts';
import type {} from '../metrics/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from '../sessions/contract.ts';
import { executionCount } from './execution-count.ts';
import { executionLog } from './execution-log.ts';
import { migrations } from './migrations.ts';
import { executionRoutes } from './routes.ts';

export default definePlugin({
  name: 'executions',
  requires: ['store', 'http', 'engine', 'agents', 'sessions', 'idempotency', 'secrets'],
  config: {
    type: 'object',
    properties: { recovers: { type: 'boolean', default: true } },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, http, engine, agents, sessions, idempotency, secrets } = ctx.services;
    const { clock, log, signal } = ctx;
    await store.migrate(ctx.name, migrations);
    const count = executionCount();
    ctx.register('metric', count.metric);
    const executions = executionLog({ store, engine, clock, log, signal, onEnded: count.add });
    ctx.provide('executions', executions);
    const mask = (text: string): string => secrets.mask(text);
    for (const route of executionRoutes({ store, engine, agents, sessions, idempotency, executions, clock, log, mask })) {
      ctx.register('route', route);
    }
    // The engine has taken up its runs before the port opens.
    if (ctx.config.recovers)
      ctx.own(
        'recovery',
        http.onListening(() => executions.recover()),
      );
  },
});
