/** The table of the outbox, and the only SQL that touches it. */
import type { Statement, Store } from '../../kernel/index.ts';
import type { DeliveryState } from './contract.ts';
import type { Spent } from './rate-limit.ts';

/** A message as it is stored, without its content. Times in epoch milliseconds. */
export interface OutboxRow {
  readonly id: number;
  readonly key: string;
  readonly channel: string;
  readonly state: DeliveryState;
  readonly parts: number;
  readonly parts_sent: number;
  /** Length of the parts that were sent, in UTF-16 units. */
  readonly chars_sent: number;
  /** How often something was sent to the receiver. */
  readonly attempts: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly error: string | null;
  readonly error_code: string | null;
  /** The life of the plugin that makes, or made, the last attempt. */
  readonly sender: string | null;
  readonly trace_id: string | null;
  readonly agent: string | null;
  readonly created_at: number;
  readonly attempted_at: number | null;
  readonly next_attempt_at: number | null;
  readonly expires_at: number;
  readonly ended_at: number | null;
}

/** A row with the beginning of its content. */
export interface OutboxRowWithContent extends OutboxRow {
  readonly content: string;
}

/** A message that is taken in. */
export interface NewOutboxRow {
  readonly key: string;
  readonly channel: string;
  readonly content: string;
  readonly traceId: string | undefined;
  readonly agent: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Why a message is not delivered; `code` is the receiver's own. */
export interface Setback {
  readonly error: string;
  readonly code: string | undefined;
}

/** How an attempt left its message when it is not the end. */
export interface Progress {
  readonly setback: Setback | undefined;
  readonly partsSent: number;
  readonly charsSent: number;
  readonly failures: number;
  readonly nextAttemptAt: number | null;
}

/** How a message ended. */
export interface OutboxEnding {
  readonly state: 'delivered' | 'failed' | 'unknown';
  readonly setback: Setback | undefined;
  readonly endedAt: number;
}

const COLUMNS = `id, key, channel, state, parts, parts_sent, chars_sent, attempts, failures, error, error_code, sender, trace_id, agent,
  created_at, attempted_at, next_attempt_at, expires_at, ended_at`;
const LAST_PLACE = 'SELECT coalesce(max(place), 0) + 1 FROM notify_outbox AS other WHERE other.channel = ? AND other.ended_at IS NULL';

const setbackOf = ({ setback }: Progress | OutboxEnding) => [setback?.error ?? null, setback?.code ?? null];

/** Adds a message at the end of its channel's line; does nothing when its key is known. */
export const messageAccepted = (row: NewOutboxRow): Statement => ({
  sql: `INSERT INTO notify_outbox (key, channel, place, state, trace_id, agent, created_at, expires_at, content)
    VALUES (?, ?, (${LAST_PLACE}), 'pending', ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
  params: [row.key, row.channel, row.channel, row.traceId ?? null, row.agent ?? null, row.createdAt, row.expiresAt, row.content],
});

/** Marks that an attempt begins. Changes nothing, and fails its list, when the message is not waiting or another one of the channel is being sent. */
export const attemptBegun = ({ id, channel }: OutboxRow, sender: string, parts: number, at: number): Statement => ({
  sql: `UPDATE notify_outbox SET state = 'sending', sender = ?, attempts = attempts + 1, parts = ?, attempted_at = ?, next_attempt_at = NULL
    WHERE id = ? AND state = 'pending'
      AND NOT EXISTS (SELECT 1 FROM notify_outbox WHERE channel = ? AND ended_at IS NULL AND state = 'sending')`,
  params: [sender, parts, at, id, channel],
  expect: 1,
});

/** The attempt is over and the message goes on waiting. Fails its list when the sender has lost the message. */
export const attemptEnded = (id: number, sender: string, progress: Progress): Statement => ({
  sql: `UPDATE notify_outbox
    SET state = 'pending', parts_sent = ?, chars_sent = ?, failures = ?, error = ?, error_code = ?, next_attempt_at = ?
    WHERE id = ? AND state = 'sending' AND sender = ?`,
  params: [progress.partsSent, progress.charsSent, progress.failures, ...setbackOf(progress), progress.nextAttemptAt, id, sender],
  expect: 1,
});

/** The attempt is over and the message has ended. Fails its list when the sender has lost the message. */
export const sendingEnded = (id: number, sender: string, ending: OutboxEnding): Statement => ({
  sql: `UPDATE notify_outbox
    SET state = ?, parts_sent = CASE ? WHEN 'delivered' THEN parts ELSE parts_sent END, error = ?, error_code = ?, ended_at = ?
    WHERE id = ? AND state = 'sending' AND sender = ?`,
  params: [ending.state, ending.state, ...setbackOf(ending), ending.endedAt, id, sender],
  expect: 1,
});

/** A message that waits ends without another attempt. Fails its list when it does not wait any more. */
export const waitingEnded = (id: number, ending: OutboxEnding): Statement => ({
  sql: `UPDATE notify_outbox SET state = ?, error = ?, error_code = coalesce(?, error_code), next_attempt_at = NULL, ended_at = ?
    WHERE id = ? AND state = 'pending'`,
  params: [ending.state, ...setbackOf(ending), ending.endedAt, id],
  expect: 1,
});

/** Why a message cannot be sent at present. */
export const waitExplained = (id: number, reason: string): Statement => ({
  sql: "UPDATE notify_outbox SET error = ?, error_code = NULL WHERE id = ? AND state = 'pending'",
  params: [reason, id],
});

/** A message that ended undelivered waits again, at the end of its channel's line, for what is not sent yet. Changes nothing for any other. */
export const messageResent = ({ id, channel }: OutboxRow, at: number, expiresAt: number): Statement => ({
  sql: `UPDATE notify_outbox
    SET state = 'pending', place = (${LAST_PLACE}), failures = 0, error = NULL, error_code = NULL, next_attempt_at = ?, expires_at = ?, ended_at = NULL
    WHERE id = ? AND state IN ('failed', 'unknown')`,
  params: [channel, at, expiresAt, id],
});

/** Removes up to `limit` messages that ended before an instant. */
export const messagesPruned = (before: number, limit: number): Statement => ({
  sql: 'DELETE FROM notify_outbox WHERE id IN (SELECT id FROM notify_outbox WHERE ended_at < ? ORDER BY ended_at LIMIT ?)',
  params: [before, limit],
});

/** One message. */
export function findMessage(store: Store, id: number): Promise<OutboxRow | undefined> {
  return store.get<OutboxRow>(`SELECT ${COLUMNS} FROM notify_outbox WHERE id = ?`, id);
}

/** The message of a key. */
export function findMessageByKey(store: Store, key: string): Promise<OutboxRow | undefined> {
  return store.get<OutboxRow>(`SELECT ${COLUMNS} FROM notify_outbox WHERE key = ?`, key);
}

/** The message of a channel whose turn it is. */
export function firstInLine(store: Store, channel: string): Promise<OutboxRow | undefined> {
  return store.get<OutboxRow>(
    `SELECT ${COLUMNS} FROM notify_outbox WHERE channel = ? AND ended_at IS NULL ORDER BY place LIMIT 1`,
    channel,
  );
}

/** Channels for which something waits. */
export async function channelsWithWaiting(store: Store): Promise<readonly string[]> {
  const rows = await store.all<{ readonly channel: string }>('SELECT DISTINCT channel FROM notify_outbox WHERE ended_at IS NULL');
  return rows.map(({ channel }) => channel);
}

/** The whole text of a message. */
export async function contentOf(store: Store, id: number): Promise<string | undefined> {
  return (await store.get<{ readonly content: string }>('SELECT content FROM notify_outbox WHERE id = ?', id))?.content;
}

/** Messages of which an attempt has begun and is not recorded as over. */
export function beingSent(store: Store): Promise<readonly OutboxRow[]> {
  return store.all<OutboxRow>(`SELECT ${COLUMNS} FROM notify_outbox WHERE state = 'sending' ORDER BY id`);
}

/**
 * What was sent to a channel since an instant, or at least that: every attempt of a message counts at the end of its last one, or at its beginning
 * when the message has not ended.
 */
export function sentSince(store: Store, channel: string, since: number): Promise<readonly Spent[]> {
  return store.all<Spent>(
    'SELECT attempts AS messages, coalesce(ended_at, attempted_at) AS at FROM notify_outbox WHERE channel = ? AND attempted_at > ?',
    channel,
    since,
  );
}

/** Messages of a run, oldest first. */
export function messagesOfTrace(store: Store, traceId: string): Promise<readonly OutboxRow[]> {
  return store.all<OutboxRow>(`SELECT ${COLUMNS} FROM notify_outbox WHERE trace_id = ? ORDER BY id`, traceId);
}

/** What a list is narrowed to. */
export interface OutboxFilter {
  readonly state: DeliveryState | undefined;
  readonly channel: string | undefined;
}

/** The newest messages, with the first `maxChars` characters of their contents. */
export function newestMessages(
  store: Store,
  filter: OutboxFilter,
  limit: number,
  maxChars: number,
): Promise<readonly OutboxRowWithContent[]> {
  const { state = null, channel = null } = filter;
  const sql = `SELECT ${COLUMNS}, substr(content, 1, ?) AS content FROM notify_outbox
    WHERE (? IS NULL OR state = ?) AND (? IS NULL OR channel = ?) ORDER BY id DESC LIMIT ?`;
  return store.all<OutboxRowWithContent>(sql, maxChars, state, state, channel, channel, limit);
}

/** How many messages have not ended. */
export async function waitingCount(store: Store): Promise<number> {
  return (await store.get<{ readonly count: number }>('SELECT count(*) AS count FROM notify_outbox WHERE ended_at IS NULL'))?.count ?? 0;
}
