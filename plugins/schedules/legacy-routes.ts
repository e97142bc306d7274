import { conflict } from '../../kernel/index.ts';
import { idempotencyHeaders } from '../conversations/contract.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { ScheduleDesk } from './schedule-desk.ts';
import type { ScheduleRow } from './schedule-repository.ts';
import { executionSchema, legacyScheduleSchema } from './schemas.ts';
import { executionView, legacyScheduleView } from './views.ts';

const keyParam = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } as const;
const executionList = { type: 'array', items: executionSchema } as const;
const scheduleList = { type: 'array', items: legacyScheduleSchema } as const;

/** Schedules by their keys, as older clients know them: a key that several agents use is a conflict everywhere. */
export function legacyScheduleRoutes(desk: ScheduleDesk, mask: (text: string) => string): readonly Route[] {
  const list = async () => (await withoutClash(desk)).map(legacyScheduleView);
  return [
    defineRoute({
      name: 'GET /api/v1/schedules',
      summary: 'List schedules by key (deprecated: use /api/v2/schedules)',
      kind: 'read',
      answer: scheduleList,
      errors: [409],
      handle: list,
    }),
    defineRoute({
      name: 'GET /api/v1/schedules/{key}/executions',
      summary: 'What became of the slots of a schedule (deprecated: use /api/v2/schedules)',
      kind: 'read',
      params: keyParam,
      query: { type: 'object', properties: { limit: { type: 'number', description: 'How many rows at most: 1 to 100, default 100.' } } },
      answer: executionList,
      errors: [404, 409],
      async handle({ params, query }) {
        const { schedule_id: id } = await desk.byKey(params.key);
        return (await desk.executions(id, query.limit)).map((row) => executionView(row, mask));
      },
    }),
    defineRoute({
      name: 'POST /api/v1/schedules/{key}/run',
      summary: 'Run a schedule now and wait for the end (deprecated: use /api/v2/schedules)',
      kind: 'write',
      params: keyParam,
      answer: executionList,
      headers: idempotencyHeaders,
      errors: [404, 409],
      async handle(request) {
        const rows = await desk.run(await desk.byKey(request.params.key), request);
        return rows.map((row) => executionView(row, mask));
      },
    }),
    defineRoute({
      name: 'PUT /api/v1/schedules/{key}',
      summary: 'Switch a schedule on or off (deprecated: use /api/v2/schedules)',
      kind: 'write',
      params: keyParam,
      body: { type: 'object', properties: { enabled: { type: 'boolean' } }, required: ['enabled'] },
      answer: scheduleList,
      errors: [404, 409],
      async handle({ params, body }) {
        const { schedule_id: id } = await desk.byKey(params.key);
        // It answers with the list: where there is none to be had, nothing is changed.
        await list();
        await desk.enable(id, body.enabled);
        return await list();
      },
    }),
  ];
}

/** All schedules. Throws ORYX_CONFLICT as soon as two agents share a key. */
async function withoutClash(desk: ScheduleDesk): Promise<readonly ScheduleRow[]> {
  const rows = await desk.list();
  const seen = new Set<string>();
  for (const { schedule_key: key } of rows) {
    if (seen.has(key)) throw conflict(`Several agents have a schedule "${key}": use /api/v2/schedules, which names each by its id`);
    seen.add(key);
  }
  return rows;
}
