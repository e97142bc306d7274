/** plugins/fallback/index.ts — Asks the next model that an agent names when the one before it cannot answer. */
import type { LlmAttempt, NextAttempt, ProviderRef, Turn } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../metrics/contract.ts';
import { Breaker } from './breaker.ts';
import { candidatesOf } from './candidates.ts';
import { isLast, nextCandidate } from './next-candidate.ts';
import { switchCount } from './switch-count.ts';

export default definePlugin({
  name: 'fallback',
  configAt: { breaker: 'oryxos.fallback.breaker' },
  config: { type: 'object', properties: { breaker: { type: 'boolean', default: false } }, additionalProperties: false },
  setup(ctx) {
    const providers = ctx.registry('provider');
    const switches = switchCount();
    const isRegistered = (name: string): boolean => providers.get(name) !== undefined;

    const decide = (attempt: LlmAttempt, { agent }: Turn): NextAttempt | undefined => {
      const next = nextCandidate(attempt, agent);
      if (next === undefined) return undefined;
      ctx.log.warn('switching to a fallback model', { from: nameOf(attempt), to: nameOf(next), reason: attempt.failure?.message });
      switches.add(attempt.provider, next.provider);
      return next;
    };

    ctx.register('metric', switches.metric);
    ctx.forEach('profile', (agent) => {
      candidatesOf(agent).reduce((from, to) => {
        switches.know(from.provider, to.provider);
        return to;
      });
    });
    ctx.tap('onLlmFailure', decide);
    if (!ctx.config.breaker) return;
    const breaker = new Breaker(ctx.clock);
    ctx.tap('beforeLlmCall', (target, { agent }) => (isLast(target, agent, isRegistered) ? undefined : breaker.refusal(target)));
    ctx.tap('afterLlmCall', (rows, attempt, { agent }) => {
      if (candidatesOf(agent).length > 1) breaker.record(attempt);
      return rows;
    });
  },
});

const nameOf = ({ provider, model }: Pick<ProviderRef, 'provider' | 'model'>): string => `${provider}/${model}`;
