import type { Tool } from '../../kernel/index.ts';
import type { Rule, RuleType } from './rule.ts';

/** What rules judge: a tool by its name and by the server that has registered it. */
export type Target = Pick<Tool, 'name' | 'source'>;

/** The rule that forbids a tool, and the sentence that says so. */
export interface Denial {
  readonly rule: Rule;
  /** E.g. "denied by global rule #1 (shell)". */
  readonly reason: string;
}

/** Whether a pattern means this tool. "<server>:*" goes by who has registered the tool, never by how its name begins. */
export function covers(pattern: string, { name, source }: Target): boolean {
  return pattern === name || (source !== undefined && pattern === `${source}:*`);
}

/**
 * The agent's own denial counts in any case; a global one unless the agent is exempt. Undefined when nothing forbids the tool: rules only ever
 * take away, so an exemption alone gives nothing.
 */
export function denialOf(rules: readonly Rule[], agentName: string, tool: Target): Denial | undefined {
  const hit = (type: RuleType, agent: string | null): Rule | undefined =>
    rules.find((rule) => rule.ruleType === type && rule.agentName === agent && covers(rule.pattern, tool));
  const own = hit('AGENT_DENY', agentName);
  if (own) return { rule: own, reason: `denied by agent rule #${own.id} (${own.pattern})` };
  const global = hit('GLOBAL_DENY', null);
  if (!global || hit('AGENT_EXEMPT', agentName)) return undefined;
  return { rule: global, reason: `denied by global rule #${global.id} (${global.pattern})` };
}
