import type { Statement, Store } from '../../kernel/index.ts';

/**
 * `accepted`: the run is not over. `sending`: a part of the answer is under way. `answered`, `failed` and `unknown` are ends; `unknown`: it
 * may have arrived, and is not sent again.
 */
export type ChannelMessageState = 'accepted' | 'sending' | 'answered' | 'failed' | 'unknown';

/** A message that is to be accepted. Times are epoch milliseconds. */
export interface NewChannelMessage {
  /** Id of the run. */
  readonly id: string;
  /** Name of the adapter. */
  readonly kind: string;
  /** Name of the registered channel. */
  readonly channel: string;
  readonly event_id: string;
  readonly message_id: string;
  readonly chat_id: string;
  readonly sender_id: string;
  readonly agent: string;
  readonly session_id: string;
  /** What is answered without a run; null: what the run says. */
  readonly answer: string | null;
  readonly created_at: number;
}

/** A message whose answer is not at its end. */
export interface ChannelMessageRow extends NewChannelMessage {
  readonly state: ChannelMessageState;
  readonly parts_sent: number;
  readonly unsure_since: number | null;
}

const COLUMNS = `id, kind, channel, event_id, message_id, chat_id, sender_id, agent, session_id, answer, created_at, state, parts_sent,
  unsure_since`;

/** Adds a message. One with the same event or message id in the channel fails the list with ORYX_STORE_CONSTRAINT. */
export const messageAdded = (row: NewChannelMessage): Statement => ({
  sql: `INSERT INTO channel_messages (id, kind, channel, event_id, message_id, chat_id, sender_id, agent, session_id, answer, state, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'accepted', ?)`,
  params: [
    row.id,
    row.kind,
    row.channel,
    row.event_id,
    row.message_id,
    row.chat_id,
    row.sender_id,
    row.agent,
    row.session_id,
    row.answer,
    row.created_at,
  ],
});

/** Notes that a part is about to be sent. */
export const partBegun = (id: string, unsureSince: number): Statement => ({
  sql: "UPDATE channel_messages SET state = 'sending', unsure_since = ? WHERE id = ?",
  params: [unsureSince, id],
});

/** Notes that nothing of a part has arrived. */
export const partPutBack = (id: string, error: string): Statement => ({
  sql: 'UPDATE channel_messages SET unsure_since = NULL, error = ? WHERE id = ?',
  params: [error, id],
});

/** Notes that so many parts have arrived. */
export const partsArrived = (id: string, partsSent: number): Statement => ({
  sql: 'UPDATE channel_messages SET parts_sent = ?, unsure_since = NULL, error = NULL WHERE id = ?',
  params: [partsSent, id],
});

/** Notes how the answer ended. */
export const answerEnded = (id: string, state: 'answered' | 'failed' | 'unknown', error: string | null, at: number): Statement => ({
  sql: 'UPDATE channel_messages SET state = ?, error = ?, unsure_since = NULL, ended_at = ? WHERE id = ?',
  params: [state, error, at, id],
});

/** Removes up to `limit` messages older than that whose answers are at an end, oldest first. */
export const messagesPruned = (before: number, limit: number): Statement => ({
  sql: `DELETE FROM channel_messages WHERE seq IN (
    SELECT seq FROM channel_messages WHERE created_at < ? AND state NOT IN ('accepted', 'sending') ORDER BY created_at LIMIT ?
  )`,
  params: [before, limit],
});

/** The id of the run for a message that has been accepted, by the event's or by its own id. */
export async function findMessage(store: Store, channel: string, eventId: string, messageId: string): Promise<string | undefined> {
  const row = await store.get<{ readonly id: string }>(
    'SELECT id FROM channel_messages WHERE channel = ? AND (event_id = ? OR message_id = ?)',
    channel,
    eventId,
    messageId,
  );
  return row?.id;
}

/** Messages whose answers are not at an end, oldest first. */
export function openMessages(store: Store): Promise<readonly ChannelMessageRow[]> {
  return store.all<ChannelMessageRow>(`SELECT ${COLUMNS} FROM channel_messages WHERE state IN ('accepted', 'sending') ORDER BY seq`);
}
