/** Which session the chat is in. */
import { randomBytes } from 'node:crypto';
import type { RestClient } from './rest-client.ts';
import { pathOf } from './rest-client.ts';
import type { SessionSummaryView, SessionView } from './views.ts';

/** `.` and eight hex digits, which `/new` appends. */
const SUFFIX = /^\.[0-9a-f]{8}$/;
const SUFFIX_LENGTH = 9;
const MAX_USER_LENGTH = 64;

/** A user id made of the name of the person at the terminal; leaves room for the suffix of a new session. */
export function userIdOf(name: string): string {
  const id = name.replaceAll(/[^A-Za-z0-9_.@-]/g, '_').slice(0, MAX_USER_LENGTH - SUFFIX_LENGTH);
  return id === '' ? 'user' : id;
}

/** The session to go on with: the person's latest with this agent, else their first. Throws ORYX_NOT_FOUND for an unknown agent. */
export async function resumeSession(client: RestClient, agent: string, userId: string): Promise<SessionView> {
  const sessions = await client.get<readonly SessionSummaryView[]>('/api/v1/sessions?status=active');
  const latest = sessions.find((session) => session.channel === 'cli' && session.profileName === agent && isOf(session.userId, userId));
  return openSession(client, agent, latest?.userId ?? userId);
}

/** An empty session of the same person. The earlier one stays as it is. */
export async function freshSession(client: RestClient, agent: string, userId: string): Promise<SessionView> {
  return openSession(client, agent, `${userId.slice(0, MAX_USER_LENGTH - SUFFIX_LENGTH)}.${randomBytes(4).toString('hex')}`);
}

/** What the person has said before, newest first. */
export function saidIn(session: SessionView): readonly string[] {
  return session.messages
    .filter(({ role, content }) => role === 'user' && !content.includes('\n'))
    .map(({ content }) => content)
    .toReversed();
}

async function openSession(client: RestClient, profile: string, userId: string): Promise<SessionView> {
  const { sessionId } = await client.post<{ sessionId: string }>('/api/v1/sessions', { profile, userId, channel: 'cli' });
  return client.get<SessionView>(pathOf`/api/v1/sessions/${sessionId}`);
}

const isOf = (sessionUser: string, userId: string): boolean =>
  sessionUser === userId || (sessionUser.startsWith(userId) && SUFFIX.test(sessionUser.slice(userId.length)));
