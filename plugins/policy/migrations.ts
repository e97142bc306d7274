import type { Migration } from '../../kernel/index.ts';

/** `tool_policy_rules` holds the rules. A unique index takes two NULLs for different, so global rules are compared as ''. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_tool_policy_rules',
    up: [
      `CREATE TABLE tool_policy_rules (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        rule_type TEXT NOT NULL CHECK (rule_type IN ('GLOBAL_DENY', 'AGENT_EXEMPT', 'AGENT_DENY')),
        agent_name TEXT,
        pattern TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        created_by TEXT
      )`,
      `CREATE UNIQUE INDEX tool_policy_rules_once ON tool_policy_rules (rule_type, coalesce(agent_name, ''), pattern)`,
    ],
  },
];
