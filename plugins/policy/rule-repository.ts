import type { Statement, Store } from '../../kernel/index.ts';
import type { NewRule, Rule, RuleType } from './rule.ts';

interface RuleRow {
  readonly id: number;
  readonly rule_type: RuleType;
  readonly agent_name: string | null;
  readonly pattern: string;
  readonly created_at: number;
  readonly created_by: string | null;
}

/** All rules, oldest first. */
export async function allRules(store: Store): Promise<readonly Rule[]> {
  const rows = await store.all<RuleRow>(
    'SELECT id, rule_type, agent_name, pattern, created_at, created_by FROM tool_policy_rules ORDER BY id',
  );
  return rows.map((row) => ({
    id: row.id,
    ruleType: row.rule_type,
    agentName: row.agent_name,
    pattern: row.pattern,
    createdAt: row.created_at,
    createdBy: row.created_by ?? 'anonymous',
  }));
}

/** Adds a rule; changes nothing when an equal one stands already. */
export const ruleAdded = ({ ruleType, agentName, pattern }: NewRule, createdBy: string, at: number): Statement => ({
  sql: 'INSERT INTO tool_policy_rules (rule_type, agent_name, pattern, created_at, created_by) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  params: [ruleType, agentName, pattern, at, createdBy],
});

/** Takes a rule away; changes nothing when there is no such rule. */
export const ruleRemoved = (id: number): Statement => ({ sql: 'DELETE FROM tool_policy_rules WHERE id = ?', params: [id] });
