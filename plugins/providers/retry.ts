/** Repeats model calls that failed for a passing reason. */
import type { LlmAttempt, NextAttempt, Turn } from '../../kernel/index.ts';

const MAX_RETRIES = 2;
const FIRST_DELAY_MS = 500;
const MAX_RETRY_AFTER_MS = 30_000;

/**
 * The next attempt at a failed call, or undefined for none: not for an agent that names other providers to switch to, not once text was
 * sent, not after two repeats, and not when the provider asks for a longer wait than 30 s. Waits 0.5 s, then 1 s, each ± 50 %, and at least as
 * long as the provider asks.
 *
 * @param random  a number from 0 up to 1
 */
export function nextAttempt(
  { attempt, contentSent, failure, provider, model }: LlmAttempt,
  { agent }: Pick<Turn, 'agent'>,
  random: () => number = Math.random,
): NextAttempt | undefined {
  if (failure === undefined || !failure.retryable || contentSent || attempt > MAX_RETRIES || hasFallback(agent.frontmatter))
    return undefined;
  const askedForMs = failure.retryAfterMs ?? 0;
  if (askedForMs > MAX_RETRY_AFTER_MS) return undefined;
  const backoffMs = FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + random());
  return {
    provider,
    model,
    ...(agent.temperature !== undefined && { temperature: agent.temperature }),
    delayMs: Math.round(Math.max(backoffMs, askedForMs)),
  };
}

function hasFallback(frontmatter: Readonly<Record<string, unknown>>): boolean {
  const { provider } = frontmatter;
  if (typeof provider !== 'object' || provider === null || !('fallback' in provider)) return false;
  return Array.isArray(provider.fallback) && provider.fallback.length > 0;
}
