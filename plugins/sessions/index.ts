/** plugins/sessions/index.ts — Keeps who talks with which agent, and what was said. */
import { definePlugin } from '../../kernel/index.ts';
import { sessionHistory } from './history.ts';
import { migrations } from './migrations.ts';
import { sessionRoutes } from './routes.ts';
import { sessionBook } from './session-book.ts';

export default definePlugin({
  name: 'sessions',
  requires: ['store', 'agents', 'http'],
  async setup(ctx) {
    const { store, agents } = ctx.services;
    await store.migrate(ctx.name, migrations);
    const book = sessionBook(store, ctx.clock);

    ctx.own(
      'archive sessions of deleted agents',
      agents.onDeleted((agent) => book.archiveAllOf(agent)),
    );
    for (const route of sessionRoutes(book, agents)) ctx.register('route', route);
    ctx.provide('sessions', book);
    ctx.provide('history', sessionHistory(store));
  },
});
