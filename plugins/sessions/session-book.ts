import type { Clock, Store } from '../../kernel/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Session, SessionView, Sessions } from './contract.ts';
import { lastMessages, resultBefore } from './message-repository.ts';
import { viewOfRow } from './message-row.ts';
import { sessionId } from './session-id.ts';
import type { SessionRow } from './session-repository.ts';
import {
  countSessions,
  findSession,
  recentSessions,
  sessionArchived,
  sessionInserted,
  sessionRevived,
  sessionsClosed,
} from './session-repository.ts';

const MAX_MESSAGES = 100;
const MAX_SESSIONS = 100;

/** How many sessions there are. */
export interface SessionStats {
  readonly active: number;
  readonly archived: number;
  readonly total: number;
}

/** The service `sessions`, and what only the routes of this plugin need. */
export interface SessionBook extends Sessions {
  /** The 100 most recently active, most recent first; of one status when it is given. */
  recent(status?: Session['status']): Promise<readonly SessionRow[]>;
  stats(): Promise<SessionStats>;
  /** Archives one session; doing it again changes nothing. Throws ORYX_NOT_FOUND. */
  archive(sessionId: string): Promise<void>;
}

/** Keeps the book of sessions in `store`. */
export function sessionBook(store: Store, clock: Clock): SessionBook {
  async function find(id: string): Promise<Session> {
    const row = await findSession(store, id);
    if (row === undefined) throw unknown(id);
    return sessionOf(row);
  }

  return {
    find,

    async open(key, id = sessionId(key)) {
      // Opening is frequent and creating rare: a look first saves a disk flush, and `sessionInserted` settles who was first.
      const known = await findSession(store, id);
      if (known !== undefined) return sessionOf(known);
      const session: Session = { sessionId: id, agent: key.agent, channel: key.channel, userId: key.userId, status: 'active' };
      await store.write(sessionInserted(session, clock.now()));
      return await find(id);
    },

    async view(id): Promise<SessionView> {
      const session = await find(id);
      const messages = await lastMessages(store, id, MAX_MESSAGES);
      return { sessionId: id, profileName: session.agent, messages: messages.map(viewOfRow) };
    },

    revived: (id) => [sessionRevived(id)],

    resultOf: async (turn, toolCallId) => (turn.persistent ? resultBefore(store, turn, toolCallId) : undefined),

    async archiveAllOf(agent) {
      await store.write(sessionsClosed(agent, clock.now()));
    },

    recent: (status) => recentSessions(store, status, MAX_SESSIONS),

    async stats() {
      const counts = new Map((await countSessions(store)).map(({ status, count }) => [status, count]));
      const active = counts.get('active') ?? 0;
      const archived = counts.get('archived') ?? 0;
      return { active, archived, total: active + archived };
    },

    async archive(id) {
      const [result] = await store.write(sessionArchived(id, clock.now()));
      if (result === undefined || result.changes === 0) throw unknown(id);
    },
  };
}

const unknown = (id: string) => notFound(`There is no session "${id}"`);

const sessionOf = (row: SessionRow): Session => ({
  sessionId: row.session_id,
  agent: row.profile_name,
  channel: row.channel,
  userId: row.user_id,
  status: row.status,
});
