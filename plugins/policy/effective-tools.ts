import type { Profile, Tool } from '../../kernel/index.ts';
import type { Target } from './decision.ts';
import { denialOf } from './decision.ts';
import type { Rule } from './rule.ts';

/** What an agent may use: declared by its author, minus what rules remove. */
export interface EffectiveTools {
  readonly agentName: string;
  readonly declared: readonly string[];
  readonly effective: readonly string[];
  readonly removed: readonly { readonly toolName: string; readonly reason: string }[];
}

/** @param tools  every tool that is registered now */
export function effectiveTools(profile: Profile, tools: readonly Tool[], rules: readonly Rule[]): EffectiveTools {
  const declared = declaredTargets(profile, tools);
  const judged = declared.map((target) => ({ toolName: target.name, denial: denialOf(rules, profile.name, target) }));
  return {
    agentName: profile.name,
    declared: declared.map(({ name }) => name),
    effective: judged.filter(({ denial }) => denial === undefined).map(({ toolName }) => toolName),
    removed: judged.flatMap(({ toolName, denial }) => (denial ? [{ toolName, reason: denial.reason }] : [])),
  };
}

/** "<server>:*" stands for the tools of that server; as long as it has none it is shown as it is, like names that no tool has. */
function declaredTargets({ tools: declared, toolSources }: Profile, tools: readonly Tool[]): readonly Target[] {
  const byName = new Map<string, Target>(tools.map((tool) => [tool.name, tool]));
  const found = new Map<string, Target>();
  for (const name of declared) {
    const ofServer = name.endsWith(':*') ? tools.filter(({ source }) => source !== undefined && `${source}:*` === name) : [];
    for (const target of ofServer.length > 0 ? ofServer : [byName.get(name) ?? { name }]) {
      const isCounted = target.source === undefined || toolSources === undefined || toolSources.includes(target.source);
      if (isCounted) found.set(target.name, target);
    }
  }
  return [...found.values()];
}
