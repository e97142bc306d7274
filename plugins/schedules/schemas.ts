/** What the routes answer with, as JSON Schema. */

const text = { type: ['string', 'null'] } as const;
const instant = { type: ['string', 'null'], format: 'date-time' } as const;

const state = {
  profileName: { type: 'string' },
  cron: { type: 'string' },
  zone: { ...text, description: 'Null: the zone of the server.' },
  message: text,
  enabled: { type: 'boolean' },
  nextRunAt: { ...instant, description: 'Null while it is switched off, and when it never fires.' },
  lastRunAt: instant,
  lastStatus: { enum: ['running', 'success', 'failed', 'skipped', 'interrupted', null] },
  runCount: { type: 'integer' },
} as const;

/** `ScheduleView`. */
export const scheduleSchema = {
  type: 'object',
  properties: { scheduleId: { type: 'string', format: 'uuid' }, key: { type: 'string' }, name: { type: 'string' }, ...state },
  required: ['scheduleId', 'key', 'name', ...Object.keys(state)],
} as const;

/** `LegacyScheduleView`. */
export const legacyScheduleSchema = {
  type: 'object',
  properties: { taskId: { type: 'string' }, ...state },
  required: ['taskId', ...Object.keys(state)],
} as const;

const execution = {
  scheduleId: text,
  legacyTaskKey: text,
  legacyMigrated: { type: 'boolean' },
  sessionId: text,
  startedAt: { type: 'string', format: 'date-time' },
  success: { type: ['boolean', 'null'], description: 'Null while it runs.' },
  errorMessage: text,
  durationMs: { type: ['integer', 'null'] },
  status: { enum: ['running', 'success', 'failed', 'skipped', 'missed', 'interrupted'] },
  reason: text,
  traceId: text,
  slotAt: { ...instant, description: 'When it was due; null for a run by hand.' },
  count: { type: 'integer', description: 'How many consecutive slots this row stands for.' },
  firstSlot: instant,
  lastSlot: instant,
} as const;

/** `ExecutionView`. */
export const executionSchema = { type: 'object', properties: execution, required: Object.keys(execution) } as const;

/** The next instants at which a schedule fires. */
export const previewSchema = {
  type: 'object',
  properties: {
    cron: { type: 'string' },
    zone: { type: 'string' },
    fires: {
      type: 'array',
      description: 'Empty when it never fires.',
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time' },
          local: { type: 'string', format: 'date-time' },
          dst: {
            enum: ['gap', 'repeat', null],
            description: 'gap: its local time is left out that day, so it fires right after. repeat: its local time comes twice.',
          },
        },
        required: ['at', 'local', 'dst'],
      },
    },
  },
  required: ['cron', 'zone', 'fires'],
} as const;
