import type { Message, Statement, Store, TurnRequest } from '../../kernel/index.ts';
import type { MessageRow } from './message-row.ts';
import { rowOfMessage } from './message-row.ts';

const COLUMNS = 'role, content, tool_name, tool_call_id, tool_calls_json, echo_json';

const INSERT_MESSAGE = `INSERT INTO messages (session_id, turn_seq, position, ${COLUMNS}, turn_id, created_at)
  SELECT session_id, seq, ?, ?, ?, ?, ?, ?, ?, turn_id, ? FROM session_turns WHERE turn_id = ?`;

/** Where a turn stands in the order of acceptance; after all others until it is accepted. */
const OWN_SEQ = 'coalesce((SELECT seq FROM session_turns WHERE turn_id = ?), 9223372036854775807)';

/** By a walk along the index of a session's turns: a list of turns to look for would cost a table of its own for every call. */
const MESSAGES_BEFORE = `SELECT ${COLUMNS.replaceAll(/\w+/g, 'm.$&')}
  FROM session_turns t CROSS JOIN messages m ON m.session_id = t.session_id AND m.turn_seq = t.seq
  WHERE t.session_id = ? AND t.ended_at IS NOT NULL AND t.seq < ${OWN_SEQ}
  AND t.seq > max(
    coalesce((SELECT starts_after FROM session_turns WHERE turn_id = ?), (SELECT starts_after FROM sessions WHERE session_id = ?), 0),
    coalesce((
      SELECT seq FROM session_turns WHERE session_id = ? AND ended_at IS NOT NULL AND seq < ${OWN_SEQ} ORDER BY seq DESC LIMIT 1 OFFSET ?
    ), 0)
  )
  ORDER BY t.seq, m.position`;

/** Gives a turn its place in the order of acceptance, and notes which earlier turns it may still see. */
export const turnInserted = (request: TurnRequest): Statement => ({
  sql: `INSERT INTO session_turns (turn_id, session_id, starts_after)
    VALUES (?, ?, coalesce((SELECT starts_after FROM sessions WHERE session_id = ?), 0))`,
  params: [request.id, request.sessionId, request.sessionId],
});

/** Marks a turn as part of the history that later turns see. */
export const turnEnded = (turnId: string, at: number): Statement => ({
  sql: 'UPDATE session_turns SET ended_at = ? WHERE turn_id = ?',
  params: [at, turnId],
  expect: 1,
});

/** Adds a message at `position` of its turn. The turn must have been inserted by an earlier statement. */
export function messageInserted(turnId: string, position: number, message: Message, at: number): Statement {
  const row = rowOfMessage(message);
  return {
    sql: INSERT_MESSAGE,
    params: [position, row.role, row.content, row.tool_name, row.tool_call_id, row.tool_calls_json, row.echo_json, at, turnId],
    expect: 1,
  };
}

/** All messages of the last `maxTurns` ended turns before a turn that it may see, oldest first. A turn not accepted yet comes after all. */
export function messagesBefore(store: Store, request: TurnRequest, maxTurns: number): Promise<readonly MessageRow[]> {
  const { id, sessionId } = request;
  return store.all<MessageRow>(MESSAGES_BEFORE, sessionId, id, id, sessionId, sessionId, id, maxTurns);
}

/** The newest tool result with that id that a turn may know of; the same turns count as for `messagesBefore`, however long ago. */
export async function resultBefore(store: Store, { id, sessionId }: TurnRequest, toolCallId: string): Promise<string | undefined> {
  const row = await store.get<Pick<MessageRow, 'content'>>(
    `SELECT content FROM messages WHERE session_id = ? AND tool_call_id = ?
      AND turn_seq < coalesce((SELECT seq FROM session_turns WHERE turn_id = ?), 9223372036854775807)
      AND turn_seq > coalesce(
        (SELECT starts_after FROM session_turns WHERE turn_id = ?), (SELECT starts_after FROM sessions WHERE session_id = ?), 0
      )
      ORDER BY turn_seq DESC, position DESC LIMIT 1`,
    sessionId,
    toolCallId,
    id,
    id,
    sessionId,
  );
  return row?.content;
}

/** The last `limit` messages of a session, oldest first. */
export function lastMessages(store: Store, sessionId: string, limit: number): Promise<readonly MessageRow[]> {
  return store.all<MessageRow>(
    `SELECT ${COLUMNS} FROM (
      SELECT * FROM messages WHERE session_id = ? ORDER BY turn_seq DESC, position DESC LIMIT ?
    ) ORDER BY turn_seq, position`,
    sessionId,
    limit,
  );
}
