/** Puts the outbox together: table, sending, service, tool, routes, numbers. */
import { randomUUID } from 'node:crypto';
import type { Context, Logger, Named, Store } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type {} from '../metrics/contract.ts';
import type {} from '../outside/contract.ts';
import type {} from '../schedules/contract.ts';
import type {} from '../secrets/contract.ts';
import { startRetention } from '../store/contract.ts';
import type {} from '../trace/contract.ts';
import type { Notifications, NotifyChannels } from './contract.ts';
import { Delivery } from './delivery.ts';
import { Dispatcher } from './dispatcher.ts';
import { notifyTool } from './notify-tool.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { outboxMetrics } from './outbox-metrics.ts';
import { beingSent, channelsWithWaiting, messagesPruned, type OutboxEnding, type OutboxRow, sendingEnded } from './outbox-repository.ts';
import { outboxRoutes } from './outbox-routes.ts';
import { deliverySchema, deliveryView } from './outbox-view.ts';

/** The life of this plugin that sends at present: the next one learns here whose attempts are still under way. */
interface OutboxSender extends Named {
  readonly id: string;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    outboxSender: OutboxSender;
  }
}

/** How the outbox is to work. */
export interface OutboxOptions {
  /** Days after which ended messages are removed; 0 keeps them. */
  readonly retentionDays: number;
  /** Whether to go on with what an earlier process left waiting; otherwise only with what is behind a message of this one. */
  readonly delivers: boolean;
}

type OutboxContext = Context<unknown, 'store' | 'secrets' | 'http' | 'outside'>;

/** Registers everything of the outbox in `ctx`, and begins to send when the port opens. The table must be up to date. */
export async function openOutbox(
  ctx: OutboxContext,
  channels: NotifyChannels,
  { retentionDays, delivers }: OutboxOptions,
): Promise<Notifications> {
  const { store, secrets, http, outside } = ctx.services;
  const { clock, log } = ctx;
  const mask = (text: string): string => secrets.mask(text);
  const sender = { name: ctx.name, id: randomUUID() };
  await endLost({ store, log, now: clock.now(), except: ctx.registry('outboxSender').get(ctx.name)?.id });
  ctx.register('outboxSender', sender);

  const adapters = ctx.registry('notifyAdapter');
  const numbers = outboxMetrics(store, adapters);
  const delivery: Delivery = new Delivery({
    store,
    clock,
    log,
    channels,
    adapters,
    http: outside.registered,
    mask,
    sender: sender.id,
    stop: () => dispatcher.stop,
    onAttempt: (result) => numbers.attempted(result),
    onEnded(row, ending, type) {
      numbers.ended(type, ending.state);
      logEnd(log, row, ending);
      outbox.moved(row.id);
    },
    onPassed: (id) => outbox.moved(id),
  });
  const dispatcher: Dispatcher = new Dispatcher({ clock, log, step: (channel) => delivery.step(channel) });
  const outbox: Outbox = createOutbox({ store, clock, channels, signal: ctx.signal, onWaiting: (channel) => dispatcher.wake(channel) });

  ctx.own('sending of messages', () => dispatcher.close());
  ctx.own(
    'listener for channels',
    channels.onChange((channel) => dispatcher.wake(channel)),
  );
  ctx.own(
    'listener for adapters',
    adapters.onChange(() => dispatcher.wakeAll()),
  );
  ctx.own(
    'start of sending',
    // Every adapter is there when the port opens.
    http.onListening(async () => {
      if (delivers) for (const channel of await channelsWithWaiting(store)) dispatcher.wake(channel);
      void dispatcher.run();
    }),
  );
  // A message may have 1 MiB.
  const prunings = [{ slice: 50, statement: messagesPruned }];
  ctx.own('retention', startRetention({ store, clock, log, days: retentionDays, what: 'messages', prunings }));

  ctx.provide('notifications', outbox);
  ctx.register('tool', notifyTool(outbox, channels));
  ctx.register('failureNotifier', {
    name: ctx.name,
    notify: async (channel, content, key, origin) => void (await outbox.submit({ channel, content, key, ...origin })),
  });
  ctx.register('traceNote', {
    name: 'notifications',
    item: deliverySchema,
    of: async (traceId) => (await outbox.ofTrace(traceId)).map((message) => deliveryView(message, mask)),
  });
  for (const metric of numbers.metrics) ctx.register('metric', metric);
  for (const route of outboxRoutes(store, outbox, mask)) ctx.register('route', route);
  return outbox;
}

interface LostParts {
  readonly store: Store;
  readonly log: Logger;
  readonly now: number;
  /** Sender whose attempts are still under way. */
  readonly except: string | undefined;
}

/** Nobody knows how attempts ended whose sender is no more: they are not repeated. */
async function endLost({ store, log, now, except }: LostParts): Promise<void> {
  const error = 'the server stopped while the message was being sent';
  const ending: OutboxEnding = { state: 'unknown', setback: { error, code: undefined }, endedAt: now };
  for (const row of await beingSent(store)) {
    if (row.sender === null || row.sender === except) continue;
    await store.write(sendingEnded(row.id, row.sender, ending));
    logEnd(log, row, ending);
  }
}

function logEnd(log: Logger, row: OutboxRow, { state, setback }: OutboxEnding): void {
  const fields = {
    channel: row.channel,
    messageId: row.id,
    attempts: row.attempts,
    ...(row.trace_id !== null && { traceId: row.trace_id }),
  };
  if (state === 'delivered') return log.info('a message was delivered', fields);
  const text = state === 'failed' ? 'a message could not be delivered' : 'it is unknown whether a message was delivered';
  log.warn(text, { ...fields, reason: setback?.error, ...(setback?.code !== undefined && { code: setback.code }) });
}
