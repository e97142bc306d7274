import type { Engine } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import { runSchema } from './schemas.ts';

/** See and stop the runs in progress. */
export const runRoutes = (engine: Engine): readonly Route[] => [
  defineRoute({
    name: 'GET /api/v1/runs',
    summary: 'List the runs in progress, oldest first',
    kind: 'read',
    answer: { type: 'array', items: runSchema },
    handle: () =>
      [...engine.active()]
        .sort((a, b) => a.startedAt - b.startedAt || (a.traceId < b.traceId ? -1 : 1))
        .map(({ traceId, agentName, sessionId, origin, startedAt, step }) => ({
          traceId,
          agentName,
          sessionId,
          origin,
          startedAt: new Date(startedAt).toISOString(),
          step,
        })),
  }),
  defineRoute({
    name: 'DELETE /api/v1/runs/{traceId}',
    summary: 'Stop a run; what it did so far is kept',
    kind: 'write',
    params: { type: 'object', properties: { traceId: { type: 'string' } }, required: ['traceId'] },
    answer: { type: 'object', properties: { cancelled: { const: true } }, required: ['cancelled'] },
    async handle({ params }) {
      await engine.cancel(params.traceId);
      return { cancelled: true };
    },
  }),
];
