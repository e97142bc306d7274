import { expect } from 'chai';
import { covers, denialOf } from '../../../plugins/policy/decision.ts';
import type { Rule, RuleType } from '../../../plugins/policy/rule.ts';

let next = 1;
const rule = (ruleType: RuleType, pattern: string, agentName: string | null = null): Rule => ({
  id: (next += 1),
  ruleType,
  agentName,
  pattern,
  createdAt: 0,
  createdBy: 'anonymous',
});
const shell = { name: 'shell' };
const issue = { name: 'create_issue', source: 'gh' };

describe('a policy decision', () => {
  it('allows what no rule forbids', () => {
    expect(denialOf([], 'a', shell)).to.equal(undefined);
    expect(denialOf([rule('AGENT_EXEMPT', 'shell', 'a')], 'a', shell)).to.equal(undefined);
    expect(denialOf([rule('GLOBAL_DENY', 'shell')], 'a', { name: 'shell2' })).to.equal(undefined);
  });

  it('names the rule that forbids', () => {
    const global = rule('GLOBAL_DENY', 'shell');
    const own = rule('AGENT_DENY', 'gh:*', 'a');
    expect(denialOf([global], 'a', shell)?.reason).to.equal(`denied by global rule #${global.id} (shell)`);
    expect(denialOf([global, own], 'a', issue)?.reason).to.equal(`denied by agent rule #${own.id} (gh:*)`);
  });

  it('lets an exemption lift global denials, for its agent only', () => {
    const rules = [rule('GLOBAL_DENY', 'shell'), rule('AGENT_EXEMPT', 'shell', 'a')];
    expect(denialOf(rules, 'a', shell)).to.equal(undefined);
    expect(denialOf(rules, 'b', shell)).to.not.equal(undefined);
    expect(denialOf(rules, 'A', shell)).to.not.equal(undefined);
  });

  it('lets no exemption lift a denial of the agent itself', () => {
    const rules = [rule('AGENT_EXEMPT', 'shell', 'a'), rule('AGENT_DENY', 'shell', 'a')];
    expect(denialOf(rules, 'a', shell)?.rule).to.equal(rules[1]);
    expect(denialOf(rules, 'b', shell)).to.equal(undefined);
  });

  it('lets an exemption of a server cover the denial of its tool, and the other way round', () => {
    expect(denialOf([rule('GLOBAL_DENY', 'create_issue'), rule('AGENT_EXEMPT', 'gh:*', 'a')], 'a', issue)).to.equal(undefined);
    expect(denialOf([rule('GLOBAL_DENY', 'gh:*'), rule('AGENT_EXEMPT', 'create_issue', 'a')], 'a', issue)).to.equal(undefined);
  });

  it('goes by who registered a tool, not by its name', () => {
    expect(covers('gh:*', issue)).to.equal(true);
    expect(covers('gh:*', { name: 'gh:x' })).to.equal(false);
    expect(covers('gh:*', { name: 'gh_x', source: 'gh-2' })).to.equal(false);
    expect(covers('gh', issue)).to.equal(false);
    expect(covers('GH:*', issue)).to.equal(false);
    expect(covers('create_issue', issue)).to.equal(true);
  });

  it('is the specified one for every combination of rules', () => {
    const patterns = ['create_issue', 'gh:*', 'other', 'gh2:*'];
    const all = patterns.flatMap((pattern) => [
      rule('GLOBAL_DENY', pattern),
      rule('AGENT_EXEMPT', pattern, 'a'),
      rule('AGENT_DENY', pattern, 'a'),
      rule('AGENT_DENY', pattern, 'b'),
    ]);
    for (let mask = 0; mask < 2 ** all.length; mask += 7) {
      const rules = all.filter((_, bit) => (mask >> bit) % 2 === 1);
      const matching = rules.filter(({ pattern }) => pattern === 'create_issue' || pattern === 'gh:*');
      const has = (type: RuleType, agent: string | null): boolean =>
        matching.some(({ ruleType, agentName }) => ruleType === type && agentName === agent);
      const denied = has('AGENT_DENY', 'a') || (has('GLOBAL_DENY', null) && !has('AGENT_EXEMPT', 'a'));
      expect(denialOf(rules, 'a', issue) !== undefined, `mask ${mask}`).to.equal(denied);
    }
  });
});
