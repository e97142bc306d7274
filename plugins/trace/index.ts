/** plugins/trace/index.ts — Shows what happened in one run, step by step. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../audit/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type {} from '../secrets/contract.ts';
import { timelineOf, timelineSchema } from './timeline.ts';

export default definePlugin({
  name: 'trace',
  requires: ['http', 'audit', 'secrets'],
  setup(ctx) {
    const { audit, secrets } = ctx.services;
    ctx.register(
      'route',
      defineRoute({
        name: 'GET /api/v1/audit/trace/{traceId}',
        summary: 'The steps of one run, in order; a run that is not known has none',
        kind: 'read',
        params: { type: 'object', properties: { traceId: { type: 'string' } }, required: ['traceId'] },
        answer: timelineSchema,
        handle: async ({ params }) => timelineOf(params.traceId, await audit.trace(params.traceId), (text) => secrets.mask(text)),
      }),
    );
  },
});
