/** Claims whose value is a path that has just been resolved: a guard judges it as it stands instead of resolving it again. */
import type { Claim } from '../../kernel/index.ts';

const GIVEN = Symbol('oryxos.outside.given');

interface ResolvedClaim extends Claim {
  readonly [GIVEN]?: string;
}

/** A claim on a real path; `given` is what the caller asked for and what messages name. */
export const resolvedClaim = (given: string, real: string, access: 'read' | 'write'): Claim => {
  const claim: ResolvedClaim = { kind: 'file', value: real, access, [GIVEN]: given };
  return claim;
};

/** The path that the caller gave, when the claim's value is already resolved; undefined for a claim as a tool declares it. */
export const givenPath = (claim: Claim): string | undefined => (claim as ResolvedClaim)[GIVEN];
