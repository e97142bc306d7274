import type { Clock, Store } from '../../kernel/index.ts';
import type { Route } from '../http/contract.ts';
import { defineRoute } from '../http/contract.ts';
import type { LlmGrouping } from './llm-call-repository.ts';
import { llmCalls, llmGroups, llmSummary } from './llm-call-repository.ts';
import { toolGroups, toolInvocations, toolSummary } from './tool-invocation-repository.ts';
import {
  groupSchema,
  groupView,
  llmCallSchema,
  llmCallView,
  llmSummarySchema,
  llmSummaryView,
  toolInvocationSchema,
  toolInvocationView,
  toolSummarySchema,
  toolSummaryView,
} from './views.ts';
import { limitFrom, windowFrom, windowQuery } from './window.ts';

const limit = { type: 'number', description: 'How many rows at most: 1 to 500, default 100.' } as const;
const blockedBy = { type: 'string', description: 'Only calls that this guard refused, e.g. "policy" or "sandbox".' } as const;
const window = { type: 'object', properties: windowQuery } as const;
const groups = { kind: 'read', query: window, answer: { type: 'array', items: groupSchema } } as const;

/** Shows what was recorded; nothing here changes anything. */
export function auditRoutes(store: Store, clock: Clock, mask: (text: string) => string): readonly Route[] {
  const byLlm = (name: string, summary: string, by: LlmGrouping): Route =>
    defineRoute({
      ...groups,
      name,
      summary,
      handle: async ({ query }) => (await llmGroups(store, by, windowFrom(query, clock.now()))).map((row) => groupView(row, mask)),
    });
  return [
    defineRoute({
      name: 'GET /api/v1/audit/llm',
      summary: 'Model calls, newest first; every attempt is one row',
      kind: 'read',
      query: { type: 'object', properties: { ...windowQuery, limit } },
      answer: { type: 'array', items: llmCallSchema },
      handle: async ({ query }) => (await llmCalls(store, windowFrom(query, clock.now()), limitFrom(query.limit))).map(llmCallView),
    }),
    defineRoute({
      name: 'GET /api/v1/audit/tool',
      summary: 'Tool calls, newest first, refused ones too',
      kind: 'read',
      query: { type: 'object', properties: { ...windowQuery, limit, blockedBy } },
      answer: { type: 'array', items: toolInvocationSchema },
      async handle({ query }) {
        const guard = query.blockedBy === '' ? undefined : query.blockedBy;
        const rows = await toolInvocations(store, windowFrom(query, clock.now()), limitFrom(query.limit), guard);
        return rows.map((row) => toolInvocationView(row, mask));
      },
    }),
    defineRoute({
      name: 'GET /api/v1/audit/llm/summary',
      summary: 'Model calls, added up',
      kind: 'read',
      query: window,
      answer: llmSummarySchema,
      handle: async ({ query }) => llmSummaryView(await llmSummary(store, windowFrom(query, clock.now()))),
    }),
    defineRoute({
      name: 'GET /api/v1/audit/tool/summary',
      summary: 'Tool calls, added up',
      kind: 'read',
      query: window,
      answer: toolSummarySchema,
      handle: async ({ query }) => toolSummaryView(await toolSummary(store, windowFrom(query, clock.now()))),
    }),
    byLlm('GET /api/v1/audit/llm/by-model', 'Model calls by model', 'model'),
    byLlm('GET /api/v1/audit/llm/by-provider', 'Model calls by provider', 'provider'),
    byLlm('GET /api/v1/audit/by-agent', 'Model calls by agent', 'profile_name'),
    defineRoute({
      ...groups,
      name: 'GET /api/v1/audit/tool/by-name',
      summary: 'Tool calls by tool',
      handle: async ({ query }) => (await toolGroups(store, windowFrom(query, clock.now()))).map((row) => groupView(row, mask)),
    }),
  ];
}
