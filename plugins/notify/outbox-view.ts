/** Messages of the outbox as the API shows them. */
import type { OutboxMessage } from './contract.ts';
import type { OutboxRow } from './outbox-repository.ts';
import { outboxMessage } from './outbox.ts';

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const count = { type: 'integer' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const nullableTime = { type: ['string', 'null'], format: 'date-time' } as const;

/** Every state of a message. */
export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'failed', 'unknown'] as const;

const delivery = {
  id: count,
  channel: text,
  state: { enum: DELIVERY_STATES, description: 'unknown: it may have arrived, and is not sent again unless somebody asks for it.' },
  parts: count,
  partsSent: count,
  attempts: { ...count, description: 'How often something of it was sent.' },
  error: nullableText,
  errorCode: { ...nullableText, description: "The receiver's own code." },
  createdAt: time,
  nextAttemptAt: { ...nullableTime, description: 'Set after a failure that may pass.' },
  endedAt: nullableTime,
} as const;

/** Where a message of a run is. */
export const deliverySchema = { type: 'object', properties: delivery, required: Object.keys(delivery) } as const;

const message = {
  ...delivery,
  expiresAt: { ...time, description: 'When it fails if it is not delivered.' },
  traceId: nullableText,
  agent: nullableText,
  content: text,
};

/** `OutboxMessageView`. */
export const outboxMessageSchema = { type: 'object', properties: message, required: Object.keys(message) } as const;

/** Where a message is, without what it says. */
export function deliveryView({ traceId: _trace, agent: _agent, ...message }: OutboxMessage, mask: (text: string) => string) {
  const { error, createdAt, nextAttemptAt, endedAt } = message;
  return {
    ...message,
    error: error === null ? null : mask(error),
    createdAt: new Date(createdAt).toISOString(),
    nextAttemptAt: isoOrNull(nextAttemptAt),
    endedAt: isoOrNull(endedAt),
  };
}

/** A whole message. Contents are masked first and cut after: a cut before could leave half of a secret, which no rule knows. */
export function outboxMessageView(row: OutboxRow & { readonly content: string }, mask: (text: string) => string, maxChars = Infinity) {
  const content = mask(row.content);
  return {
    ...deliveryView(outboxMessage(row), mask),
    expiresAt: new Date(row.expires_at).toISOString(),
    traceId: row.trace_id,
    agent: row.agent,
    content: content.length <= maxChars ? content : content.slice(0, maxChars).replace(/[\ud800-\udbff]$/, ''),
  };
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
