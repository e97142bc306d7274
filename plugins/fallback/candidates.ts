import type { Profile, ProviderRef } from '../../kernel/index.ts';

/** What of an agent says who may answer it. */
export type Chooser = Pick<Profile, 'provider' | 'model' | 'temperature' | 'frontmatter'>;

/**
 * The agent's own model, then those of `provider.fallback` in their order, each pair of provider and model once. A candidate without a
 * temperature gets the agent's. Just one for an agent that declares no fallback.
 */
export function candidatesOf({ provider, model, temperature, frontmatter }: Chooser): readonly ProviderRef[] {
  const own = referenceOf(provider, model, temperature);
  const others = entriesOf(frontmatter).flatMap((entry) => candidateFrom(entry, temperature) ?? []);
  return [own, ...others].filter((candidate, index, all) => all.findIndex((other) => isSame(other, candidate)) === index);
}

/** Whether two references mean the same model; the temperature does not count. */
export const isSame = (a: Pick<ProviderRef, 'provider' | 'model'>, b: Pick<ProviderRef, 'provider' | 'model'>): boolean =>
  a.provider === b.provider && a.model === b.model;

function entriesOf({ provider }: Profile['frontmatter']): readonly unknown[] {
  if (typeof provider !== 'object' || provider === null || !('fallback' in provider)) return [];
  return Array.isArray(provider.fallback) ? provider.fallback : [];
}

function candidateFrom(entry: unknown, inherited: number | undefined): ProviderRef | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { name, model, temperature } = entry as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || typeof model !== 'string') return undefined;
  return referenceOf(name, model, typeof temperature === 'number' ? temperature : inherited);
}

function referenceOf(provider: string, model: string, temperature: number | undefined): ProviderRef {
  return temperature === undefined ? { provider, model } : { provider, model, temperature };
}
