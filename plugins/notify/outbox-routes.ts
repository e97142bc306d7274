/** Shows what waits and what became of messages, and sends them again. */
import type { Store } from '../../kernel/index.ts';
import { defineRoute, type Route } from '../http/contract.ts';
import { contentOf, findMessage, newestMessages, type OutboxRow } from './outbox-repository.ts';
import { DELIVERY_STATES, outboxMessageSchema, outboxMessageView } from './outbox-view.ts';
import { noMessage, type Outbox } from './outbox.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
/** Of a content in a list; longer beginnings are masked, so that a secret at the cut is seen whole. */
const MAX_SHOWN_CHARS = 200;
const MAX_MASKED_CHARS = 16_384;

const idParam = {
  type: 'object',
  properties: { id: { type: 'string', description: 'Number of the message.' } },
  required: ['id'],
} as const;

/** @param mask  hides secrets in contents and reasons */
export function outboxRoutes(store: Store, outbox: Outbox, mask: (text: string) => string): readonly Route[] {
  async function whole(row: OutboxRow) {
    return outboxMessageView({ ...row, content: (await contentOf(store, row.id)) ?? '' }, mask);
  }
  return [
    defineRoute({
      name: 'GET /api/v1/notify-outbox',
      summary: 'Messages to notify channels, newest first, with the beginnings of their contents',
      kind: 'read',
      query: {
        type: 'object',
        properties: {
          state: { enum: DELIVERY_STATES, description: 'Only messages in that state.' },
          channel: { type: 'string', description: 'Only messages to that channel.' },
          limit: { type: 'number', description: `1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}.` },
        },
      },
      answer: { type: 'array', items: outboxMessageSchema },
      async handle({ query: { state, channel = '', limit = DEFAULT_LIMIT } }) {
        const filter = { state, channel: channel === '' ? undefined : channel };
        const rows = await newestMessages(store, filter, Math.min(MAX_LIMIT, Math.max(1, Math.trunc(limit))), MAX_MASKED_CHARS);
        return rows.map((row) => outboxMessageView(row, mask, MAX_SHOWN_CHARS));
      },
    }),
    defineRoute({
      name: 'GET /api/v1/notify-outbox/{id}',
      summary: 'One message to a notify channel, with its whole content',
      kind: 'read',
      params: idParam,
      answer: outboxMessageSchema,
      errors: [404],
      async handle({ params }) {
        const row = await findMessage(store, numberFrom(params.id));
        if (row === undefined) throw noMessage(params.id);
        return whole(row);
      },
    }),
    defineRoute({
      name: 'POST /api/v1/notify-outbox/{id}/resend',
      summary: 'Send a message again that failed or whose outcome is unknown: the parts that were not delivered, for another 24 hours',
      kind: 'write',
      params: idParam,
      answer: outboxMessageSchema,
      errors: [404, 409],
      handle: async ({ params }) => whole(await outbox.resend(numberFrom(params.id))),
    }),
  ];
}

/** Throws ORYX_NOT_FOUND for what is no number of a message. */
function numberFrom(id: string): number {
  if (!/^[1-9]\d{0,14}$/.test(id)) throw noMessage(id.slice(0, 100));
  return Number(id);
}
