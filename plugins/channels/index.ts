/** plugins/channels/index.ts — Lets people talk to agents in chats. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../agents/contract.ts';
import type {} from '../http/contract.ts';
import type {} from '../notify/contract.ts';
import type {} from '../outside/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from '../sessions/contract.ts';
import { boundChannelCheck } from './agent-check.ts';
import { Answers } from './answers.ts';
import { Connections } from './connections.ts';
import { inbox } from './inbox.ts';
import { migrations } from './migrations.ts';
import { channelRoute } from './routes.ts';

export default definePlugin({
  name: 'channels',
  requires: ['store', 'http', 'engine', 'sessions', 'notifyChannels', 'outside', 'secrets'],
  config: {
    type: 'object',
    properties: { recovers: { type: 'boolean', default: true } },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, http, engine, sessions, notifyChannels, outside, secrets } = ctx.services;
    const { clock, log, signal } = ctx;
    await store.migrate(ctx.name, migrations);

    const connections = new Connections({ adapters: ctx.registry('channel'), notifyChannels, http: outside.registered });
    ctx.own(
      'listener for registered channels',
      notifyChannels.onChange((name) => connections.drop(name)),
    );
    const mask = (text: string): string => secrets.mask(text);
    const answers = new Answers({ store, engine, connections, clock, log, signal, mask });
    ctx.own('answers', () => answers.close());

    const accept = inbox({ store, engine, sessions, answers, clock });
    const parts = { profiles: ctx.registry('profile'), connections, inbox: accept, clock, log, signal };
    ctx.forEach('channel', ({ name }, child) => void child.register('route', channelRoute(name, parts)));
    ctx.register('agentCheck', boundChannelCheck(ctx.registry('channel'), notifyChannels));
    // The engine has taken up its runs before the port opens.
    if (ctx.config.recovers)
      ctx.own(
        'recovery',
        http.onListening(() => answers.recover()),
      );
  },
});
