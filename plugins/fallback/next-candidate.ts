import type { LlmAttempt, ProviderRef } from '../../kernel/index.ts';
import { candidatesOf, isSame, type Chooser } from './candidates.ts';

/**
 * Who is asked after a failed attempt, also when its provider does not exist: then that attempt fails and is recorded like any other. Undefined
 * when another provider cannot help, when text was sent, and after the last one. Where the chain stands follows from the attempt alone, so each
 * candidate is asked once at most and nothing is remembered between attempts.
 */
export function nextCandidate(attempt: LlmAttempt, agent: Chooser): ProviderRef | undefined {
  if (attempt.failure?.switchable !== true || attempt.contentSent) return undefined;
  const candidates = candidatesOf(agent);
  const failed = candidates.findIndex((candidate) => isSame(candidate, attempt));
  return failed < 0 ? undefined : candidates[failed + 1];
}

/** Whether nobody could be asked after this one. */
export function isLast(candidate: ProviderRef, agent: Chooser, isRegistered: (provider: string) => boolean): boolean {
  const candidates = candidatesOf(agent);
  const after = candidates.slice(candidates.findIndex((each) => isSame(each, candidate)) + 1);
  return !after.some(({ provider }) => isRegistered(provider));
}
