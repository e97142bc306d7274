/** Token counts as providers report them. */
import type { Usage } from '../../kernel/index.ts';
import { isObject, objectAt } from './json.ts';

/** Nothing was reported. */
export const NO_USAGE: Usage = { promptTokens: null, completionTokens: null, totalTokens: null, cachedTokens: null, reasoningTokens: null };

const count = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null);

/** Reads a `usage` object; what is absent or no number is null. */
export function usageFrom(usage: unknown): Usage {
  if (!isObject(usage)) return NO_USAGE;
  return {
    promptTokens: count(usage['prompt_tokens']),
    completionTokens: count(usage['completion_tokens']),
    totalTokens: count(usage['total_tokens']),
    // DeepSeek reports its cache under a name of its own: https://api-docs.deepseek.com/guides/kv_cache
    cachedTokens: count(objectAt(usage, 'prompt_tokens_details')?.['cached_tokens']) ?? count(usage['prompt_cache_hit_tokens']),
    reasoningTokens: count(objectAt(usage, 'completion_tokens_details')?.['reasoning_tokens']),
  };
}
