/** plugins/metrics/index.ts — Counts what happens and shows the numbers to monitoring systems. Changes no result. */
import { Registry } from 'prom-client';
import { definePlugin } from '../../kernel/index.ts';
import { candidatesOf } from '../fallback/contract.ts';
import type {} from '../http/contract.ts';
import type {} from './contract.ts';
import { publish } from './contributed.ts';
import { llmMetrics } from './llm-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { reloadMetrics } from './reload-metrics.ts';
import { metricsRoutes } from './routes.ts';
import { runMetrics } from './run-metrics.ts';
import { toolMetrics } from './tool-metrics.ts';

/** After the taps that record: an attempt whose record fails is not counted. */
const LAST_STAGE = 1_000;

export default definePlugin({
  name: 'metrics',
  requires: ['http', 'kernel'],
  setup(ctx) {
    const { kernel } = ctx.services;
    const registry = new Registry();
    const llm = llmMetrics(registry);
    const tools = toolMetrics(registry);
    const runs = runMetrics(registry);
    const reloads = reloadMetrics(registry, () => kernel.status());
    ctx.own('event loop delay', processMetrics(registry, ctx.clock.now()));

    ctx.tap(
      'afterLlmCall',
      (rows, attempt) => {
        llm.record(attempt);
        return rows;
      },
      { stage: LAST_STAGE },
    );
    ctx.tap(
      'afterToolCall',
      (rows, call, result) => {
        tools.record(call, result);
        return rows;
      },
      { stage: LAST_STAGE },
    );
    ctx.tap('afterTurn', ({ origin }, { status }) => runs.record(origin, status));

    ctx.forEach('tool', ({ name }) => tools.know(name));
    ctx.forEach('profile', (agent) => candidatesOf(agent).forEach((model) => llm.know(model)));
    ctx.forEach('metric', (metric, child) => void child.own('series', publish(metric, { registry, clock: ctx.clock, log: ctx.log })));
    const agents = ctx.registry('profile');
    ctx.own(
      'agent reloads',
      agents.onChange((change, { name }) => {
        if (change === 'removed' && agents.get(name) !== undefined) reloads.agentReloaded();
      }),
    );
    for (const route of metricsRoutes(registry)) ctx.register('route', route);
  },
});
