/** plugins/policy/index.ts — Refuses tools that an administrator has forbidden, to all agents or to one. */
import type { Refusal, ToolCall } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../http/contract.ts';
import type { Denial } from './decision.ts';
import { denialOf } from './decision.ts';
import { migrations } from './migrations.ts';
import { policyRoutes } from './routes.ts';
import { RuleBook } from './rule-book.ts';
import { allRules } from './rule-repository.ts';

export default definePlugin({
  name: 'policy',
  guard: true,
  requires: ['store', 'http'],
  async setup(ctx) {
    const { store } = ctx.services;
    await store.migrate(ctx.name, migrations);
    const book = new RuleBook(store, ctx.clock, await allRules(store));

    ctx.tap('selectTools', (tools, { agent }) => {
      const { rules } = book;
      return rules.length === 0 ? tools : tools.filter((tool) => denialOf(rules, agent.name, tool) === undefined);
    });
    ctx.tap('beforeToolCall', (call) => {
      const denial = denialOf(book.rules, call.turn.agent.name, call.tool);
      return denial && refusal(call, denial);
    });
    const parts = { book, tools: ctx.registry('tool'), profiles: ctx.registry('profile'), log: ctx.log };
    for (const route of policyRoutes(parts)) ctx.register('route', route);
  },
});

/** Says which rule it was and what an administrator would change. */
function refusal({ tool, turn }: ToolCall, { rule, reason }: Denial): Refusal {
  const remove = `DELETE /api/v1/tool-policy/rules/${rule.id}`;
  const remedy = rule.ruleType === 'AGENT_DENY' ? remove : `add AGENT_EXEMPT for agent "${turn.agent.name}", or ${remove}`;
  return {
    blockedBy: 'policy',
    message: `the tool ${tool.name} is ${reason} of the tool policy; an administrator can change that: ${remedy}`,
  };
}
