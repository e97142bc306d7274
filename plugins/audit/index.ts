/** plugins/audit/index.ts — Records every model call and every tool call, in the commit that makes its result durable. */
import type { Statement } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type {} from '../pricing/contract.ts';
import type {} from '../secrets/contract.ts';
import type { Audit } from './contract.ts';
import { startRetention } from '../store/contract.ts';
import { llmCallsOf, llmCallsPruned } from './llm-call-repository.ts';
import { migrations } from './migrations.ts';
import { recorder, subjectOf } from './recorder.ts';
import { auditRoutes } from './routes.ts';
import { toolInvocationsOf, toolInvocationsPruned } from './tool-invocation-repository.ts';

export default definePlugin({
  name: 'audit',
  guard: true,
  requires: ['store', 'http', 'secrets'],
  configAt: { required: 'audit.required', retentionDays: 'audit.retention-days' },
  config: {
    type: 'object',
    properties: {
      required: { type: 'boolean', default: true },
      retentionDays: { type: 'integer', minimum: 0, maximum: 36_500, default: 90 },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, secrets } = ctx.services;
    const { required, retentionDays: days } = ctx.config;
    await store.migrate(ctx.name, migrations);
    const prices = ctx.registry('pricing');
    const records = recorder(
      ctx.clock,
      ({ provider, model, reply }) => prices.get('pricing')?.costMicros(provider, model, reply?.usage) ?? null,
    );

    /** With the step; or beside it, where a row that cannot be written does no harm to the run. */
    const added = (rows: readonly Statement[], row: Statement): readonly Statement[] => {
      if (required) return [...rows, row];
      store.write(row).catch((error: unknown) => ctx.log.error('an audit row could not be written', { error }));
      return rows;
    };
    ctx.tap('afterLlmCall', (rows, attempt, turn) => added(rows, records.llmCall(attempt, subjectOf(turn))), { required });
    ctx.tap('afterToolCall', async (rows, call, result, durationMs) => added(rows, await records.toolCall(call, result, durationMs)), {
      required,
    });

    // Rows of model calls are small; a row of a tool call may have 128 KiB.
    const prunings = [
      { slice: 500, statement: llmCallsPruned },
      { slice: 100, statement: toolInvocationsPruned },
    ];
    ctx.own('retention', startRetention({ store, clock: ctx.clock, log: ctx.log, days, what: 'audit rows', prunings }));
    for (const route of auditRoutes(store, ctx.clock, (text) => secrets.mask(text))) ctx.register('route', route);
    const audit: Audit = {
      llmCall: (attempt, subject) => records.llmCall(attempt, subject),
      async trace(traceId) {
        const steps = [...(await llmCallsOf(store, traceId)), ...(await toolInvocationsOf(store, traceId))];
        return steps.sort((a, b) => a.at - b.at || a.seq - b.seq);
      },
    };
    ctx.provide('audit', audit);
  },
});
