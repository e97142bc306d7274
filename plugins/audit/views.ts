import type { LlmCallRow, LlmSummaryRow } from './llm-call-repository.ts';
import type { ToolInvocationRow, ToolSummaryRow } from './tool-invocation-repository.ts';
import type { Group } from './window.ts';

/** The key of rows that no agent is known for. */
const UNATTRIBUTED = '(unattributed)';

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const count = { type: 'integer' } as const;
const nullableCount = { type: ['integer', 'null'] } as const;
const nullableNumber = { type: ['number', 'null'] } as const;
const time = { type: 'string', format: 'date-time' } as const;

/** One line of the list of model calls. */
export const llmCallSchema = {
  type: 'object',
  properties: {
    id: count,
    profileName: nullableText,
    provider: text,
    model: text,
    promptTokens: nullableCount,
    completionTokens: nullableCount,
    totalTokens: nullableCount,
    costMicros: { ...nullableCount, description: 'Millionths of the currency unit; null when no price is known.' },
    success: { type: 'boolean' },
    durationMs: count,
    createdAt: time,
    traceId: nullableText,
    outcome: { enum: ['success', 'failed', 'interrupted'], description: 'interrupted: a crash cut the call off.' },
    attempt: nullableCount,
  },
} as const;

/** One line of the list of tool calls. */
export const toolInvocationSchema = {
  type: 'object',
  properties: {
    id: count,
    profileName: nullableText,
    toolName: text,
    success: { type: 'boolean' },
    blockedBy: nullableText,
    durationMs: count,
    createdAt: time,
    traceId: nullableText,
  },
} as const;

const rates = { count, successCount: count, successRate: nullableNumber, avgDurationMs: nullableNumber } as const;

/** Tool calls, added up. Rate and average of nothing are null. */
export const toolSummarySchema = { type: 'object', properties: rates } as const;

/** Model calls, added up. */
export const llmSummarySchema = {
  type: 'object',
  properties: { ...rates, totalPromptTokens: nullableCount, totalCompletionTokens: nullableCount, totalCostMicros: nullableCount },
} as const;

/** Rows with something in common, added up. */
export const groupSchema = {
  type: 'object',
  properties: { key: text, count, successCount: count, totalCostMicros: nullableCount },
} as const;

/** See `llmCallSchema`. */
export const llmCallView = (row: LlmCallRow) => ({
  id: row.id,
  profileName: row.profile_name,
  provider: row.provider,
  model: row.model,
  promptTokens: row.prompt_tokens,
  completionTokens: row.completion_tokens,
  totalTokens: row.total_tokens,
  costMicros: row.cost_micros,
  success: row.success === 1,
  durationMs: row.duration_ms,
  createdAt: new Date(row.created_at).toISOString(),
  traceId: row.trace_id,
  outcome: row.outcome,
  attempt: row.attempt,
});

/** See `toolInvocationSchema`. A model chooses the names of the tools that it calls, so they are masked. */
export const toolInvocationView = (row: ToolInvocationRow, mask: (text: string) => string) => ({
  id: row.id,
  profileName: row.profile_name,
  toolName: mask(row.tool_name),
  success: row.success === 1,
  blockedBy: row.blocked_by,
  durationMs: row.duration_ms,
  createdAt: new Date(row.created_at).toISOString(),
  traceId: row.trace_id,
});

/** See `toolSummarySchema`. */
export const toolSummaryView = (row: ToolSummaryRow) => ({
  count: row.count,
  successCount: row.success_count,
  successRate: row.count === 0 ? null : row.success_count / row.count,
  avgDurationMs: row.avg_duration_ms,
});

/** See `llmSummarySchema`. */
export const llmSummaryView = (row: LlmSummaryRow) => ({
  ...toolSummaryView(row),
  totalPromptTokens: row.prompt_tokens,
  totalCompletionTokens: row.completion_tokens,
  totalCostMicros: row.cost_micros,
});

/** See `groupSchema`. */
export const groupView = (row: Group, mask: (text: string) => string) => ({
  key: row.key === null ? UNATTRIBUTED : mask(row.key),
  count: row.count,
  successCount: row.success_count,
  totalCostMicros: row.cost_micros,
});
