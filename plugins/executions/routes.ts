import { randomUUID } from 'node:crypto';
import { type Clock, type Engine, invalidInput, type Logger, OryxError, type Statement, type Store } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import { type Idempotency, idempotencyHeaders } from '../conversations/contract.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { Sessions } from '../sessions/contract.ts';
import type { Executions } from './contract.ts';
import { executionsOf, findExecution } from './execution-repository.ts';
import { agentExecutionSchema, agentExecutionView, triggerSchema } from './views.ts';

const MAX_LENGTH = 32_768;
const MAX_EXECUTIONS = 50;
/** What an agent is told that is triggered without words. */
const GENERIC_TEXT = 'You were triggered by hand. Carry out the task that your instructions describe, now.';

const nameParam = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const content = {
  type: ['string', 'null'],
  maxLength: MAX_LENGTH,
  description: 'What to tell the agent. Absent or blank: that it was triggered and shall carry out its task.',
} as const;

/** What the routes work with. */
export interface ExecutionRouteParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly agents: Agents;
  readonly sessions: Sessions;
  readonly idempotency: Idempotency;
  readonly executions: Executions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly mask: (text: string) => string;
}

/** Triggers an agent without waiting, and shows what became of it. */
export const executionRoutes = (parts: ExecutionRouteParts): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/agents/{name}/trigger',
    summary: "Start a run in the console's session with an agent and answer at once",
    kind: 'write',
    params: nameParam,
    body: { type: 'object', properties: { content } },
    bodyOptional: true,
    answer: triggerSchema,
    headers: idempotencyHeaders,
    errors: [404, 409, 429],
    async handle(request) {
      const { params, body } = request;
      const said = body.content ?? '';
      if (said.length > MAX_LENGTH) throw invalidInput(`content must not be longer than ${MAX_LENGTH} characters`);
      const input = said.trim() === '' ? GENERIC_TEXT : said;
      const id = randomUUID();
      const traceId = await parts.idempotency.once(request, id, (keyRows) => accept(parts, { id, agent: params.name, input }, keyRows));
      request.setHeader('X-Trace-Id', traceId);
      const row = await findExecution(parts.store, traceId);
      if (row === undefined) throw new OryxError('ORYX_INTERNAL', `The execution of run ${traceId} is missing`);
      return { executionId: row.id, status: 'RUNNING' };
    },
  }),
  defineRoute({
    name: 'GET /api/v1/agents/{name}/executions',
    summary: 'The 50 newest runs of an agent that were triggered by hand or by a schedule',
    kind: 'read',
    params: nameParam,
    answer: { type: 'array', items: agentExecutionSchema },
    errors: [404],
    async handle({ params }) {
      parts.agents.view(params.name);
      const rows = await executionsOf(parts.store, params.name, MAX_EXECUTIONS);
      return rows.map((row) => agentExecutionView(row, parts.mask));
    },
  }),
];

interface Trigger {
  readonly id: string;
  readonly agent: string;
  readonly input: string;
}

/** Accepts the run and its row in one commit, and follows it. */
async function accept(parts: ExecutionRouteParts, { id, agent, input }: Trigger, keyRows: readonly Statement[]): Promise<void> {
  const { engine, agents, sessions, executions, clock, log } = parts;
  agents.requireRunnable(agent);
  const { sessionId } = await sessions.open({ channel: 'admin', userId: 'console', agent });
  const startedAt = clock.now();
  const row = executions.begun({ traceId: id, agent, source: 'manual', sessionId, startedAt });
  await engine.submit({ id, profile: agent, sessionId, origin: 'trigger', input, persistent: true }, [
    ...sessions.revived(sessionId, startedAt),
    row,
    ...keyRows,
  ]);
  executions.follow(id).catch((error: unknown) => log.error('an execution cannot be followed', { traceId: id, error }));
}
