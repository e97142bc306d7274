import type { LlmAttempt, ProviderRef } from '../../kernel/index.ts';
import { candidatesOf, isSame, type Chooser } from './candidates.ts';

/** Who is asked next, and who would have come before but has no registered provider. */
export interface Choice {
  readonly next: ProviderRef | undefined;
  readonly passedOver: readonly ProviderRef[];
}

const NOBODY: Choice = { next: undefined, passedOver: [] };

/**
 * Who is asked after a failed attempt. Nobody when another provider cannot help or text was sent. Where the chain stands follows from the
 * attempt alone, so each candidate is asked once at most and nothing is remembered between attempts.
 */
export function nextCandidate(attempt: LlmAttempt, agent: Chooser, isRegistered: (provider: string) => boolean): Choice {
  if (attempt.failure?.switchable !== true || attempt.contentSent) return NOBODY;
  const candidates = candidatesOf(agent);
  const failed = candidates.findIndex((candidate) => isSame(candidate, attempt));
  if (failed < 0) return NOBODY;
  const rest = candidates.slice(failed + 1);
  const found = rest.findIndex(({ provider }) => isRegistered(provider));
  return found < 0 ? { next: undefined, passedOver: rest } : { next: rest[found], passedOver: rest.slice(0, found) };
}

/** Whether nobody could be asked after this one. */
export function isLast(candidate: ProviderRef, agent: Chooser, isRegistered: (provider: string) => boolean): boolean {
  const candidates = candidatesOf(agent);
  const after = candidates.slice(candidates.findIndex((each) => isSame(each, candidate)) + 1);
  return !after.some(({ provider }) => isRegistered(provider));
}
