import type { Statement, Store } from '../../kernel/index.ts';
import type { Session } from './contract.ts';

/** A session as the table holds it; times in epoch milliseconds. */
export interface SessionRow {
  readonly session_id: string;
  readonly profile_name: string;
  readonly channel: string;
  readonly user_id: string;
  readonly status: Session['status'];
  readonly created_at: number;
  readonly last_active_at: number | null;
  readonly message_count: number;
}

const COLUMNS = 'session_id, profile_name, channel, user_id, status, created_at, last_active_at, message_count';
const FIND_SESSION = `SELECT ${COLUMNS} FROM sessions WHERE session_id = ?`;
const RECENT_FIRST = 'ORDER BY coalesce(last_active_at, created_at) DESC, session_id';

/** Adds a session unless it exists. Messages that turns left under this id earlier are counted in. */
export const sessionInserted = (session: Session, at: number): Statement => ({
  sql: `INSERT INTO sessions (session_id, profile_name, channel, user_id, status, created_at, message_count)
    VALUES (?, ?, ?, ?, ?, ?, (SELECT count(*) FROM messages WHERE session_id = ?)) ON CONFLICT (session_id) DO NOTHING`,
  params: [session.sessionId, session.agent, session.channel, session.userId, session.status, at, session.sessionId],
});

/** Notes activity. Changes nothing for a session that was never opened. */
export const sessionTouched = (sessionId: string, addedMessages: number, at: number): Statement => ({
  sql: 'UPDATE sessions SET message_count = message_count + ?, last_active_at = ? WHERE session_id = ?',
  params: [addedMessages, at, sessionId],
});

/** Makes an archived session active; changes nothing for others. */
export const sessionRevived = (sessionId: string): Statement => ({
  sql: "UPDATE sessions SET status = 'active', archived_at = NULL WHERE session_id = ? AND status = 'archived'",
  params: [sessionId],
});

/** Archives one session; an archived one keeps its time. Changes one row exactly when the session exists. */
export const sessionArchived = (sessionId: string, at: number): Statement => ({
  sql: "UPDATE sessions SET status = 'archived', archived_at = coalesce(archived_at, ?) WHERE session_id = ?",
  params: [at, sessionId],
});

/** Archives all sessions of an agent and closes their histories: later turns see none of the turns up to now. */
export const sessionsClosed = (agent: string, at: number): Statement => ({
  sql: `UPDATE sessions SET status = 'archived', archived_at = coalesce(archived_at, ?),
    starts_after = coalesce((SELECT max(seq) FROM session_turns WHERE session_turns.session_id = sessions.session_id), 0)
    WHERE profile_name = ?`,
  params: [at, agent],
});

/** One session. */
export function findSession(store: Store, sessionId: string): Promise<SessionRow | undefined> {
  return store.get<SessionRow>(FIND_SESSION, sessionId);
}

/** At most `limit` sessions, most recently active first; those that were never used count from their creation. */
export function recentSessions(store: Store, status: Session['status'] | undefined, limit: number): Promise<readonly SessionRow[]> {
  const some = `SELECT ${COLUMNS} FROM sessions WHERE status = ? ${RECENT_FIRST} LIMIT ?`;
  if (status !== undefined) return store.all<SessionRow>(some, status, limit);
  // One index serves both: each half stops after `limit` rows, where a scan without status would sort the whole table.
  return store.all<SessionRow>(
    `SELECT * FROM (SELECT * FROM (${some}) UNION ALL SELECT * FROM (${some})) ${RECENT_FIRST} LIMIT ?`,
    'active',
    limit,
    'archived',
    limit,
    limit,
  );
}

/** How many sessions there are of each status. */
export function countSessions(store: Store): Promise<readonly { readonly status: Session['status']; readonly count: number }[]> {
  return store.all('SELECT status, count(*) AS count FROM sessions GROUP BY status');
}
