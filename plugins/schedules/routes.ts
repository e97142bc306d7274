import { type Clock, invalidInput } from '../../kernel/index.ts';
import { isZone } from '../agents/contract.ts';
import { idempotencyHeaders } from '../conversations/contract.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import { cronExpression } from './cron-expression.ts';
import { preview } from './preview.ts';
import type { ScheduleDesk } from './schedule-desk.ts';
import { executionSchema, previewSchema, scheduleSchema } from './schemas.ts';
import { timeZone } from './time-zone.ts';
import { executionView, scheduleView } from './views.ts';

const DEFAULT_PREVIEWED = 10;
const MAX_PREVIEWED = 100;

const idParam = { type: 'object', properties: { scheduleId: { type: 'string' } }, required: ['scheduleId'] } as const;
const limit = { type: 'number', description: 'How many rows at most: 1 to 100, default 100.' } as const;
const count = { type: 'number', description: `How many: 1 to ${MAX_PREVIEWED}, default ${DEFAULT_PREVIEWED}.` } as const;
const enabledBody = { type: 'object', properties: { enabled: { type: 'boolean' } }, required: ['enabled'] } as const;
const executionList = { type: 'array', items: executionSchema } as const;
const scheduleList = { type: 'array', items: scheduleSchema } as const;

/** Schedules by their ids. */
export function scheduleRoutes(desk: ScheduleDesk, clock: Clock, mask: (text: string) => string): readonly Route[] {
  const previewOf = (cron: string, zoneName: string | null, wanted = DEFAULT_PREVIEWED) => {
    const zone = timeZone(zoneName);
    const many = Math.min(MAX_PREVIEWED, Math.max(1, Math.trunc(wanted)));
    return { cron, zone: zone.name, fires: preview(cronExpression(cron), zone, clock.now(), many) };
  };
  const runs = { kind: 'write', answer: executionList, headers: idempotencyHeaders, errors: [404, 409] } as const;

  return [
    defineRoute({
      name: 'GET /api/v2/schedules',
      summary: 'List the schedules of all agents',
      kind: 'read',
      answer: scheduleList,
      handle: async () => (await desk.list()).map(scheduleView),
    }),
    defineRoute({
      name: 'GET /api/v2/schedules/{scheduleId}/executions',
      summary: 'What became of the slots of a schedule, newest first; also of one that is no longer declared',
      kind: 'read',
      params: idParam,
      query: { type: 'object', properties: { limit } },
      answer: executionList,
      errors: [404],
      handle: async ({ params, query }) => (await desk.executions(params.scheduleId, query.limit)).map((row) => executionView(row, mask)),
    }),
    defineRoute({
      ...runs,
      name: 'POST /api/v2/schedules/{scheduleId}/run',
      summary: 'Run a schedule now, also one that is switched off, and wait for the end',
      params: idParam,
      async handle(request) {
        const rows = await desk.run(await desk.schedule(request.params.scheduleId), request);
        return rows.map((row) => executionView(row, mask));
      },
    }),
    defineRoute({
      ...runs,
      name: 'POST /api/v2/agents/{profileName}/schedules/{key}/run',
      summary: 'Run the schedule of an agent now and wait for the end',
      params: {
        type: 'object',
        properties: { profileName: { type: 'string' }, key: { type: 'string' } },
        required: ['profileName', 'key'],
      },
      async handle(request) {
        const rows = await desk.run(await desk.byAgentAndKey(request.params.profileName, request.params.key), request);
        return rows.map((row) => executionView(row, mask));
      },
    }),
    defineRoute({
      name: 'PUT /api/v2/schedules/{scheduleId}',
      summary: 'Switch a schedule on or off',
      kind: 'write',
      params: idParam,
      body: enabledBody,
      answer: scheduleList,
      errors: [404],
      async handle({ params, body }) {
        await desk.enable(params.scheduleId, body.enabled);
        return (await desk.list()).map(scheduleView);
      },
    }),
    defineRoute({
      name: 'GET /api/v2/schedules/{scheduleId}/preview',
      summary: 'When a schedule fires next, in its zone and in UTC',
      kind: 'read',
      params: idParam,
      query: { type: 'object', properties: { count } },
      answer: previewSchema,
      errors: [404],
      async handle({ params, query }) {
        const row = await desk.schedule(params.scheduleId);
        return previewOf(row.cron, row.zone, query.count);
      },
    }),
    defineRoute({
      name: 'POST /api/v2/schedules/preview',
      summary: 'When an expression would fire next, before it is saved anywhere',
      kind: 'read',
      body: {
        type: 'object',
        properties: { cron: { type: 'string', maxLength: 128 }, zone: { type: ['string', 'null'] }, count },
        required: ['cron'],
      },
      answer: previewSchema,
      handle({ body }) {
        const zone = body.zone?.trim() || null;
        if (zone !== null && !isZone(zone))
          throw invalidInput(`zone "${zone}" is not a time zone: use an IANA name such as "Asia/Shanghai"`);
        return previewOf(body.cron, zone, body.count);
      },
    }),
  ];
}
