import type { Audit, AuditedLlmCall, AuditedToolCall } from '../audit/contract.ts';

type AuditedStep = Awaited<ReturnType<Audit['trace']>>[number];

/** Length of a summary in UTF-16 units. */
const MAX_SUMMARY_LENGTH = 200;

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const count = { type: 'integer' } as const;
const nullableCount = { type: ['integer', 'null'] } as const;

/** `TraceTimelineView`. */
export const timelineSchema = {
  type: 'object',
  properties: {
    traceId: text,
    found: { type: 'boolean' },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          seq: count,
          type: { enum: ['LLM', 'TOOL'] },
          name: { ...text, description: 'The model or the tool.' },
          success: { type: 'boolean' },
          durationMs: count,
          at: { type: 'string', format: 'date-time' },
          errorMessage: nullableText,
          provider: { ...text, description: 'Of a model call: who was asked.' },
          reason: {
            ...nullableText,
            description:
              'Of a model call: why this model was asked and not the one before, whose attempt at the same call failed so. Null for the first attempt.',
          },
          promptTokens: nullableCount,
          completionTokens: nullableCount,
          totalTokens: nullableCount,
          costMicros: nullableCount,
          inputSummary: nullableText,
          resultSummary: nullableText,
          blockedBy: nullableText,
        },
        required: ['seq', 'type', 'name', 'success', 'durationMs', 'at', 'errorMessage'],
      },
    },
    summary: {
      type: 'object',
      properties: {
        steps: count,
        llmCalls: count,
        toolCalls: count,
        totalTokens: nullableCount,
        costMicros: nullableCount,
        totalDurationMs: count,
      },
    },
  },
  required: ['traceId', 'found', 'steps', 'summary'],
} as const;

/** The steps of a run as people see them: numbered from 1, masked, and cut after that. */
export function timelineOf(traceId: string, steps: readonly AuditedStep[], mask: (text: string) => string) {
  const llm = steps.filter((step) => step.type === 'LLM');
  return {
    traceId,
    found: steps.length > 0,
    steps: steps.map((step, index) => ({
      seq: index + 1,
      type: step.type,
      name: mask(step.type === 'LLM' ? step.model : step.toolName),
      success: step.success,
      durationMs: step.durationMs,
      at: new Date(step.at).toISOString(),
      errorMessage: summaryOf(step.errorMessage, mask),
      ...(step.type === 'LLM' ? { ...choiceOf(step, llm, mask), ...usageOf(step) } : effectOf(step, mask)),
    })),
    summary: {
      steps: steps.length,
      llmCalls: llm.length,
      toolCalls: steps.length - llm.length,
      totalTokens: sumOf(llm.map(({ totalTokens }) => totalTokens)),
      costMicros: sumOf(llm.map(({ costMicros }) => costMicros)),
      totalDurationMs: steps.reduce((sum, { durationMs }) => sum + durationMs, 0),
    },
  };
}

function choiceOf(step: AuditedLlmCall, all: readonly AuditedLlmCall[], mask: (text: string) => string) {
  const { provider, call, attempt } = step;
  const before = attempt === null ? undefined : all.findLast((other) => other.call === call && other.attempt === attempt - 1);
  return { provider: mask(provider), reason: summaryOf(before?.errorMessage ?? null, mask) };
}

const usageOf = ({ promptTokens, completionTokens, totalTokens, costMicros }: AuditedLlmCall) => ({
  promptTokens,
  completionTokens,
  totalTokens,
  costMicros,
});

const effectOf = ({ input, result, blockedBy }: AuditedToolCall, mask: (text: string) => string) => ({
  inputSummary: summaryOf(input, mask),
  resultSummary: summaryOf(result, mask),
  blockedBy,
});

/** A cut before masking could leave the first half of a secret, which no rule knows. Half a character is left out. */
function summaryOf(value: string | null, mask: (text: string) => string): string | null {
  return value === null
    ? null
    : mask(value)
        .slice(0, MAX_SUMMARY_LENGTH)
        .replace(/[\ud800-\udbff]$/, '');
}

/** The sum of what is known; null when there are numbers and none is known. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 && numbers.length > 0 ? null : known.reduce((sum, number) => sum + number, 0);
}
