import { randomUUID } from 'node:crypto';
import { notFound } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { NotifyChannels, Notifications } from './contract.ts';

/** How long a test waits for its message to end. */
const WAIT_MS = 30_000;

const nullable = { type: ['string', 'null'] } as const;

/**
 * Sends a message to one channel, as the tool `notify` does, and answers with where it is after at most 30 s.
 *
 * @param mask  hides secrets in reasons
 */
export const channelTestRoute = (
  channels: Pick<NotifyChannels, 'list'>,
  notifications: Pick<Notifications, 'submit' | 'settled'>,
  mask: (text: string) => string,
): Route =>
  defineRoute({
    name: 'POST /api/v1/notify-channels/{name}/test',
    summary: 'Send a test message and wait up to 30 s for what becomes of it; a failed one is answered with 200 too',
    kind: 'write',
    params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    body: {
      type: 'object',
      properties: { content: { type: 'string', description: 'Absent: a sentence that names the channel.', example: 'Hello from OryxOS' } },
    },
    bodyOptional: true,
    answer: {
      type: 'object',
      properties: {
        state: {
          enum: ['delivered', 'pending', 'sending', 'failed', 'unknown'],
          description: 'pending and sending: it is still tried. unknown: it may have arrived.',
        },
        id: { type: 'integer', description: 'Of the message in the outbox.' },
        error: { ...nullable, description: 'Why it is not delivered, or not yet.', example: null },
        errorCode: { ...nullable, description: 'The receiver’s own code for it.', example: null },
      },
      required: ['state', 'id', 'error', 'errorCode'],
    },
    async handle({ params, body, signal }) {
      const { name } = params;
      if (!channels.list().some((channel) => channel.name === name)) throw notFound(`Notify channel "${name}" does not exist.`);
      const content = body.content ?? `This is a test message from OryxOS to the channel "${name}".`;
      const { id } = await notifications.submit({ channel: name, content, key: `test:${randomUUID()}` });
      const { state, error, errorCode } = await notifications.settled(id, WAIT_MS, signal);
      return { state, id, error: error === null ? null : mask(error), errorCode };
    },
  });
