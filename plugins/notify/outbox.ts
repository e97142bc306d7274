/** Accepts messages, tells where they are, and takes ended ones up again. */
import { type Clock, conflict, invalidInput, notFound, type Store } from '../../kernel/index.ts';
import type { NotifyChannels, Notifications, OutboxMessage, OutgoingMessage } from './contract.ts';
import { findMessage, findMessageByKey, messageAccepted, messageResent, messagesOfTrace, type OutboxRow } from './outbox-repository.ts';

const LIFETIME_MS = 24 * 60 * 60 * 1000;
const MAX_CONTENT_BYTES = 1024 * 1024;

/** What the outbox works with. */
export interface OutboxParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: NotifyChannels;
  /** Aborts when the plugin ends: nobody waits then any more. */
  readonly signal: AbortSignal;
  /** Something waits in that channel. */
  readonly onWaiting: (channel: string) => void;
}

/** The service `notifications`, and what only this plugin may do with it. */
export interface Outbox extends Notifications {
  /** Ends the waiting for that message. */
  moved(id: number): void;
  /**
   * Sends a message again that ended `failed` or `unknown`: what its receiver has not confirmed, for another 24 hours. Throws ORYX_NOT_FOUND, and
   * ORYX_CONFLICT for a message in another state or a channel that is gone.
   */
  resend(id: number): Promise<OutboxRow>;
}

/** @param parts  of a store whose tables are up to date */
export function createOutbox({ store, clock, channels, signal: closing, onWaiting }: OutboxParts): Outbox {
  const waiting = new Map<number, Set<() => void>>();

  async function found(id: number): Promise<OutboxRow> {
    const row = await findMessage(store, id);
    if (row === undefined) throw noMessage(id);
    return row;
  }

  return {
    async submit(message) {
      if (message.key === '') throw invalidInput('key must not be empty');
      const known = await findMessageByKey(store, message.key);
      if (known !== undefined) return outboxMessage(known);
      const channel = channels.find(message.channel);
      if (channel === undefined) throw noChannel(channels, message.channel);
      checkContent(message);
      const now = clock.now();
      const { key, content, traceId, agent } = message;
      await store.write(
        messageAccepted({ key, channel: channel.name, content, traceId, agent, createdAt: now, expiresAt: now + LIFETIME_MS }),
      );
      const row = await findMessageByKey(store, key);
      onWaiting(channel.name);
      if (row === undefined) throw notFound(`The message with key "${key}" was removed`);
      return outboxMessage(row);
    },

    async settled(id, timeoutMs, signal) {
      const over = new AbortController();
      const end = (): void => over.abort();
      const others = waiting.get(id) ?? new Set();
      waiting.set(id, others.add(end));
      const cancel = clock.after(timeoutMs, end);
      const signals = [closing, ...(signal === undefined ? [] : [signal])];
      for (const each of signals) each.addEventListener('abort', end, { once: true });
      try {
        const row = await found(id);
        if (row.ended_at !== null) return outboxMessage(row);
        if (!signals.some(({ aborted }) => aborted)) await aborted(over.signal);
        return outboxMessage(await found(id));
      } finally {
        cancel();
        for (const each of signals) each.removeEventListener('abort', end);
        others.delete(end);
        if (others.size === 0) waiting.delete(id);
      }
    },

    ofTrace: async (traceId) => (await messagesOfTrace(store, traceId)).map(outboxMessage),

    moved(id) {
      for (const end of waiting.get(id) ?? []) end();
    },

    async resend(id) {
      const row = await found(id);
      if (channels.target(row.channel) === undefined)
        throw conflict(`The channel "${row.channel}" of message ${id} does not exist any more`);
      const now = clock.now();
      const [result] = await store.write(messageResent(row, now, now + LIFETIME_MS));
      if (result?.changes !== 1) {
        throw conflict(`Message ${id} is ${row.state}: only one that failed, or whose outcome is unknown, can be sent again`);
      }
      onWaiting(row.channel);
      return found(id);
    },
  };
}

/** A row as others know it. */
export function outboxMessage(row: OutboxRow): OutboxMessage {
  return {
    id: row.id,
    channel: row.channel,
    state: row.state,
    partsSent: row.parts_sent,
    parts: row.parts,
    attempts: row.attempts,
    error: row.error,
    errorCode: row.error_code,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    endedAt: row.ended_at,
    traceId: row.trace_id,
    agent: row.agent,
  };
}

/** What is thrown for an id that nothing is known about. */
export const noMessage = (id: number | string): Error => notFound(`There is no message ${id} in the outbox`);

function noChannel(channels: NotifyChannels, name: string): Error {
  const names = channels.list().map((channel) => channel.name);
  if (names.length === 0) {
    return notFound(
      'No notify channel is registered: an administrator must add one (POST /api/v1/notify-channels) before anything can be sent',
    );
  }
  return notFound(`There is no notify channel ${JSON.stringify(name.slice(0, 100))}; the channels are: ${names.join(', ')}`);
}

function checkContent({ content }: OutgoingMessage): void {
  if (content.trim() === '') throw invalidInput('content must not be empty');
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_CONTENT_BYTES) throw invalidInput(`content has ${bytes} bytes; at most ${MAX_CONTENT_BYTES} can be sent`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
