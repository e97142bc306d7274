/** A third-party plugin as the API shows it. */
import type { PluginStatus } from '../../kernel/index.ts';
import { type PluginView, TRUST } from './contract.ts';
import type { FoundPackage } from './discover.ts';

/** What is known of a plugin. */
export interface ThirdPartyFacts {
  readonly name: string;
  /** Packages of its name, the one that is used first. */
  readonly found: readonly FoundPackage[];
  readonly requires: readonly string[];
  /** What the kernel says; undefined while the kernel does not know it. */
  readonly status: PluginStatus | undefined;
  /** Why the last load did not succeed. */
  readonly error: Error | undefined;
  /** Whether something is being done with it. */
  readonly isBusy: boolean;
  readonly warnings: readonly string[];
  /** Label of the effect that is the loader's own. */
  readonly hidden: string;
}

/** The view. What is not running and not being loaded has failed, unless it waits for a service. */
export function thirdPartyView({ name, found, requires, status, error, isBusy, warnings, hidden }: ThirdPartyFacts): PluginView {
  return {
    name,
    version: found[0]?.version ?? null,
    source: found[0]?.source ?? 'directory',
    state: stateOf(status, isBusy),
    requires: status?.requires ?? requires,
    missing: status?.missing ?? [],
    error: (error ?? status?.error)?.message ?? null,
    effects: status?.effects.children.flatMap(({ label }) => (label === hidden ? [] : [label])) ?? [],
    generation: status?.generation ?? 0,
    warnings,
    trust: TRUST,
  };
}

function stateOf(status: PluginStatus | undefined, isBusy: boolean): PluginView['state'] {
  if (status?.state === 'active') return 'active';
  if (isBusy) return 'pending';
  return status === undefined || status.state === 'failed' ? 'failed' : 'pending';
}

/** One sentence for each package that has the same name as the one that is used. */
export function shadowedOnes([used, ...others]: readonly FoundPackage[]): readonly string[] {
  const shown = (found: FoundPackage | undefined): string => `version ${found?.version ?? 'unknown'} (${found?.source})`;
  return others.map((other) => `there are two packages of this name: ${shown(used)} is used, ${shown(other)} is not`);
}
