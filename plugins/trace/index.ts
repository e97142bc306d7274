/** plugins/trace/index.ts — Shows what happened in one run, step by step. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../audit/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from './contract.ts';
import { timelineOf } from './timeline.ts';
import { notedTimelineSchema, notesOf } from './trace-notes.ts';

export default definePlugin({
  name: 'trace',
  requires: ['http', 'audit', 'secrets'],
  setup(ctx) {
    const { audit, secrets } = ctx.services;
    const notes = ctx.registry('traceNote');
    const timelineRoute = () =>
      defineRoute({
        name: 'GET /api/v1/audit/trace/{traceId}',
        summary: 'The steps of one run, in order; a run that is not known has none',
        kind: 'read',
        params: { type: 'object', properties: { traceId: { type: 'string' } }, required: ['traceId'] },
        answer: notedTimelineSchema(notes.list()),
        async handle({ params: { traceId } }) {
          const timeline = timelineOf(traceId, await audit.trace(traceId), (text) => secrets.mask(text));
          return { ...(await notesOf(traceId, notes, ctx.log)), ...timeline };
        },
      });
    const route = ctx.register('route', timelineRoute());
    ctx.own(
      'listener for notes',
      notes.onChange(() => route.replace(timelineRoute())),
    );
  },
});
