import { invalidInput } from '../../kernel/index.ts';

/** The three kinds of rules. */
export const RULE_TYPES = ['GLOBAL_DENY', 'AGENT_EXEMPT', 'AGENT_DENY'] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** What an administrator writes down. `agentName` is null exactly for GLOBAL_DENY. */
export interface NewRule {
  readonly ruleType: RuleType;
  readonly agentName: string | null;
  /** The exact name of a tool, or "<server>:*" for every tool that a server has registered. */
  readonly pattern: string;
}

/** A rule in force. */
export interface Rule extends NewRule {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly createdBy: string;
}

const AGENT_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_PATTERN_LENGTH = 255;
/** No white space, no control characters; a star only in ":*" at the end. */
const PATTERN = /^(?:[^\s\p{C}*]+|[^\s\p{C}*:]+:\*)$/u;

/** Checks what came from a client. Throws ORYX_INVALID_INPUT and names the field. */
export function newRule(ruleType: RuleType, agentName: string | null | undefined, pattern: string): NewRule {
  const agent = agentName?.trim() ? agentName : null;
  if (ruleType === 'GLOBAL_DENY' && agent !== null)
    throw invalidInput('agentName must be left out of a GLOBAL_DENY rule: it is for all agents');
  if (ruleType !== 'GLOBAL_DENY' && (agent === null || !AGENT_NAME.test(agent)))
    throw invalidInput(`agentName must name the agent of an ${ruleType} rule (letters, digits, "_" and "-", at most 64)`);
  if (pattern.length > MAX_PATTERN_LENGTH || !PATTERN.test(pattern))
    throw invalidInput('pattern must be the exact name of a tool, or "<server>:*" for all tools of a server');
  return { ruleType, agentName: agent, pattern };
}
