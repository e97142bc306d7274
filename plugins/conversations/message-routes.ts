import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/index.ts';
import { isOryxError, OryxError } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import type { HttpRequest, Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { SessionKey, Sessions } from '../sessions/contract.ts';
import { sessionSchema } from '../sessions/contract.ts';
import { checkContent, messageBody } from './message-content.ts';
import type { PlannedTurn, Responder } from './responder.ts';
import { messageHeaders, replySchema } from './schemas.ts';

const nameParam = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const idParam = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

const streaming = { kind: 'write', body: messageBody, answer: replySchema, headers: messageHeaders, streams: true } as const;

/** The console talks to each agent in one session of its own. */
const consoleKey = (agent: string): SessionKey => ({ channel: 'admin', userId: 'console', agent });

/** The three ways to say something to an agent, and the console's session. */
export function messageRoutes(respond: Responder, sessions: Sessions, agents: Agents, clock: Clock): readonly Route[] {
  /** Runs what `plan` describes on the content of the request. */
  const say = (
    request: HttpRequest<unknown, unknown, { readonly content: string }>,
    plan: () => Promise<Omit<PlannedTurn, 'input'>>,
  ): ReturnType<Responder> => {
    const { content } = request.body;
    checkContent(content);
    return respond(request, async () => ({ ...(await plan()), input: content }));
  };
  const kept = (sessionId: string) => ({ persistent: true, rows: sessions.revived(sessionId, clock.now()) });
  return [
    defineRoute({
      ...streaming,
      name: 'POST /api/v1/sessions/{id}/messages',
      summary: 'Say something in a session',
      params: idParam,
      async handle(request) {
        return await say(request, async () => {
          const { sessionId, agent } = await sessions.find(request.params.id);
          requireAgentOf(sessionId, agent, agents);
          return { profile: agent, sessionId, origin: 'session', ...kept(sessionId) };
        });
      },
    }),
    defineRoute({
      ...streaming,
      name: 'POST /api/v1/agents/{name}/invoke',
      summary: 'Run an agent once, without a session',
      params: nameParam,
      async handle(request) {
        return await say(request, async () => {
          agents.requireRunnable(request.params.name);
          const sessionId = `invoke-exec:${randomUUID()}`;
          return { profile: request.params.name, sessionId, origin: 'invoke', persistent: false };
        });
      },
    }),
    defineRoute({
      name: 'GET /api/v1/agents/{name}/session',
      summary: "Read the console's session with an agent",
      kind: 'read',
      params: nameParam,
      answer: sessionSchema,
      async handle({ params }) {
        agents.view(params.name);
        const { sessionId } = await sessions.open(consoleKey(params.name));
        return await sessions.view(sessionId);
      },
    }),
    defineRoute({
      ...streaming,
      name: 'POST /api/v1/agents/{name}/session/messages',
      summary: "Say something in the console's session with an agent",
      params: nameParam,
      async handle(request) {
        return await say(request, async () => {
          agents.requireRunnable(request.params.name);
          const { sessionId } = await sessions.open(consoleKey(request.params.name));
          return { profile: request.params.name, sessionId, origin: 'console', ...kept(sessionId) };
        });
      },
    }),
  ];
}

/** A session outlives its agent: that the agent is gone is not the client's mistake in naming the session. */
function requireAgentOf(sessionId: string, agent: string, agents: Agents): void {
  try {
    agents.requireRunnable(agent);
  } catch (error) {
    if (!isOryxError(error) || error.code !== 'ORYX_NOT_FOUND') throw error;
    throw new OryxError('ORYX_AGENT_GONE', `The agent "${agent}" of session "${sessionId}" no longer exists`, { cause: error });
  }
}
