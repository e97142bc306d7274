import { Counter, Histogram, type Registry } from 'prom-client';
import type { LlmAttempt, ProviderRef } from '../../kernel/index.ts';

const OUTCOMES: readonly LlmAttempt['outcome'][] = ['success', 'failed', 'interrupted'];
const BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];

/** What is counted about model calls: every attempt, as it is recorded in the audit. */
export interface LlmMetrics {
  /** Makes the series of a model visible before it is first asked. */
  know(model: ProviderRef): void;
  record(attempt: LlmAttempt): void;
}

/** Numbers of tokens that a provider did not report are not counted, and an interrupted attempt has no duration. */
export function llmMetrics(registry: Registry): LlmMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'oryxos_llm_calls_total',
    help: 'Attempts at model calls that ended.',
    labelNames: ['provider', 'model', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'oryxos_llm_call_duration_seconds',
    help: 'Time from the request to the end of the answer or the failure.',
    labelNames: ['provider', 'model'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: 'oryxos_llm_tokens_total',
    help: 'Tokens as the providers reported them.',
    labelNames: ['provider', 'model', 'type'],
    registers,
  });
  return {
    know({ provider, model }) {
      for (const outcome of OUTCOMES) calls.inc({ provider, model, outcome }, 0);
      for (const type of ['prompt', 'completion']) tokens.inc({ provider, model, type }, 0);
      durations.zero({ provider, model });
    },
    record({ provider, model, outcome, durationMs, reply }) {
      calls.inc({ provider, model, outcome });
      if (outcome !== 'interrupted') durations.observe({ provider, model }, durationMs / 1000);
      tokens.inc({ provider, model, type: 'prompt' }, reply?.usage.promptTokens ?? 0);
      tokens.inc({ provider, model, type: 'completion' }, reply?.usage.completionTokens ?? 0);
    },
  };
}
