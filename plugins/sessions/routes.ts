import { invalidInput } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import { sessionSchema, sessionStatsSchema, sessionSummarySchema } from './schemas.ts';
import type { SessionBook } from './session-book.ts';
import type { SessionRow } from './session-repository.ts';

const idParam = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

/** Create, list, count, read and archive sessions. The list's fixed path stands before `{id}`. */
export const sessionRoutes = (book: SessionBook, agents: Agents): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/sessions',
    summary: 'Get or create the session of a user with an agent',
    kind: 'write',
    body: {
      type: 'object',
      properties: {
        profile: { type: 'string' },
        userId: { type: ['string', 'null'] },
        channel: { enum: ['web', 'cli'], default: 'web' },
      },
      required: ['profile'],
    },
    answer: { type: 'object', properties: { sessionId: { type: 'string' } }, required: ['sessionId'] },
    async handle({ body }) {
      if (body.profile.trim() === '') throw invalidInput('profile must not be blank: name the agent to talk to');
      agents.view(body.profile);
      const userId = typeof body.userId === 'string' ? body.userId : 'default';
      const session = await book.open({ channel: body.channel, userId, agent: body.profile });
      return { sessionId: session.sessionId };
    },
  }),
  defineRoute({
    name: 'GET /api/v1/sessions',
    summary: 'List the 100 most recently active sessions',
    kind: 'read',
    query: { type: 'object', properties: { status: { enum: ['active', 'archived'] } } },
    answer: { type: 'array', items: sessionSummarySchema },
    handle: async ({ query }) => (await book.recent(query.status)).map(summaryOf),
  }),
  defineRoute({
    name: 'GET /api/v1/sessions/stats',
    summary: 'Count sessions by status',
    kind: 'read',
    answer: sessionStatsSchema,
    handle: () => book.stats(),
  }),
  defineRoute({
    name: 'GET /api/v1/sessions/{id}',
    summary: 'Read the last 100 messages of a session',
    kind: 'read',
    params: idParam,
    answer: sessionSchema,
    handle: ({ params }) => book.view(params.id),
  }),
  defineRoute({
    name: 'DELETE /api/v1/sessions/{id}',
    summary: 'Archive a session; its messages stay readable',
    kind: 'write',
    params: idParam,
    answer: { type: 'object', properties: { archived: { const: true } }, required: ['archived'] },
    async handle({ params }) {
      await book.archive(params.id);
      return { archived: true };
    },
  }),
];

const summaryOf = (row: SessionRow) => ({
  sessionId: row.session_id,
  profileName: row.profile_name,
  channel: row.channel,
  userId: row.user_id,
  status: row.status,
  createdAt: new Date(row.created_at).toISOString(),
  lastActiveAt: row.last_active_at === null ? null : new Date(row.last_active_at).toISOString(),
  messageCount: row.message_count,
});
