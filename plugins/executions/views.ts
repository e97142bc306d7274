import type { ExecutionRow } from './execution-repository.ts';

const text = { type: ['string', 'null'] } as const;

/** `AgentExecutionView`. */
export const agentExecutionSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    agentName: { type: 'string' },
    source: { enum: ['manual', 'schedule'] },
    sessionId: text,
    startedAt: { type: 'string', format: 'date-time' },
    endedAt: { type: ['string', 'null'], format: 'date-time' },
    status: { enum: ['RUNNING', 'SUCCESS', 'FAILED', 'INTERRUPTED'] },
    durationMs: { type: ['integer', 'null'] },
    errorMessage: text,
    reason: { ...text, description: 'Why it did not just complete: cancelled, timeout, max_iterations, loop, or a sentence.' },
    traceId: text,
  },
  required: ['id', 'agentName', 'source', 'sessionId', 'startedAt', 'endedAt', 'status', 'durationMs', 'errorMessage', 'reason', 'traceId'],
} as const;

/** `TriggerResponse`. */
export const triggerSchema = {
  type: 'object',
  properties: { executionId: { type: 'integer' }, status: { const: 'RUNNING' } },
  required: ['executionId', 'status'],
} as const;

/** A row as the API shows it. */
export const agentExecutionView = (row: ExecutionRow, mask: (text: string) => string) => ({
  id: row.id,
  agentName: row.agent_name,
  source: row.source,
  sessionId: row.session_id,
  startedAt: new Date(row.started_at).toISOString(),
  endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  status: row.status.toUpperCase(),
  durationMs: row.duration_ms,
  errorMessage: row.error_message === null ? null : mask(row.error_message),
  reason: row.reason === null ? null : mask(row.reason),
  traceId: row.trace_id,
});
