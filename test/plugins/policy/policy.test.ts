import { expect } from 'chai';
import { definePlugin, defineTool, ok, type Plugin } from '../../../kernel/index.ts';
import policy from '../../../plugins/policy/index.ts';
import { breathe } from '../../harness/fake-clock.ts';
import type { TestHost } from '../../harness/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';

const RULES = '/api/v1/tool-policy/rules';
const feedback = 'settings: {on_fatal_tool_error: feedback}';

/** Tools of two servers whose names begin alike, and one without a server. `ran` notes what was executed. */
function servers(ran: string[]): Plugin {
  const tool = (name: string, source?: string) =>
    defineTool({
      name,
      description: name,
      input: { type: 'object' },
      ...(source !== undefined && { source }),
      async execute() {
        ran.push(name);
        return ok(`${name} ran`);
      },
    });
  return definePlugin({
    name: 'servers',
    setup(ctx) {
      for (const made of [tool('create_issue', 'gh'), tool('gh_other', 'gh-2'), tool('plain')]) ctx.register('tool', made);
    },
  });
}

describe('the tool policy', function () {
  this.timeout(20_000);
  let host: TestHost;
  let ran: string[];
  beforeEach(async () => {
    ran = [];
    host = await startHost({
      agents: {
        a: agentFile('a', `tools: [plain, create_issue, "gh-2:*", nowhere]\n${feedback}`),
        b: agentFile('b', 'tools: [plain]'),
      },
      plugins: [servers(ran)],
    });
  });
  afterEach(() => host.stop());

  const add = async (ruleType: string, pattern: string, agentName?: string): Promise<number> => {
    const answer = await host.request('POST', RULES, { ruleType, pattern, ...(agentName !== undefined && { agentName }) });
    expect(answer.status, answer.message).to.equal(200);
    return (answer.data as { id: number }).id;
  };
  const effective = async (agent: string) => {
    const { data } = await host.request('GET', '/api/v1/tool-policy');
    return (data as { effective: { agentName: string }[] }).effective.find(({ agentName }) => agentName === agent);
  };
  const offered = (): readonly string[] => host.model.requests.at(-1)?.tools.map(({ name }) => name) ?? [];

  it('changes nothing without rules', async () => {
    await host.say('a', 'hi');
    expect(offered()).to.deep.equal(['plain', 'create_issue', 'gh_other']);
    expect(await effective('a')).to.deep.equal({
      agentName: 'a',
      declared: ['plain', 'create_issue', 'gh_other', 'nowhere'],
      effective: ['plain', 'create_issue', 'gh_other', 'nowhere'],
      removed: [],
    });
    const { data } = await host.request('GET', '/api/v1/tool-policy');
    expect((data as { effective: { agentName: string }[] }).effective.map(({ agentName }) => agentName)).to.deep.equal([
      'a',
      'b',
      'default',
    ]);
  });

  it('takes a forbidden tool off the list, refuses it all the same, and leaves a row', async () => {
    const id = await add('GLOBAL_DENY', 'plain');
    host.model.willCall('plain');
    host.model.willSay('done');
    const outcome = await host.say('a', 'go');
    expect(outcome.reply).to.equal('done');
    expect(ran).to.deep.equal([]);
    for (const { tools } of host.model.requests) expect(tools.map(({ name }) => name)).to.not.include('plain');
    expect(host.model.requests.at(-1)?.messages.at(-1)?.content).to.include(
      `the tool plain is denied by global rule #${id} (plain) of the tool policy; an administrator can change that: add AGENT_EXEMPT for agent "a"`,
    );
    const { data } = await host.request('GET', '/api/v1/audit/tool?blockedBy=policy');
    expect(data).to.have.length(1);
    expect((data as unknown[])[0]).to.include({
      toolName: 'plain',
      success: false,
      blockedBy: 'policy',
      traceId: outcome.turnId,
      profileName: 'a',
    });
    expect(await effective('a')).to.deep.include({
      effective: ['create_issue', 'gh_other', 'nowhere'],
      removed: [{ toolName: 'plain', reason: `denied by global rule #${id} (plain)` }],
    });
  });

  it('ends the run with 422 where failures are not fed back', async () => {
    await add('GLOBAL_DENY', 'plain');
    host.model.willCall('plain');
    const answer = await host.request('POST', '/api/v1/agents/b/invoke', { content: 'go' });
    expect(answer.status).to.equal(422);
    expect(answer.message).to.match(/^plain: the tool plain is denied by global rule #\d+ \(plain\)/);
    host.model.willCall('plain');
    const { events } = await host.stream('/api/v1/agents/b/invoke', { content: 'go' });
    expect(events.at(-1)?.event).to.equal('error');
    expect(events.at(-1)?.data).to.include({ code: 422 });
  });

  it('counts in a run that is under way: a rule that came after the answer of the model refuses its call', async () => {
    host.model.will(async () => {
      await add('AGENT_DENY', 'plain', 'a');
      return { calls: [{ name: 'plain' }] };
    });
    expect((await host.say('a', 'go')).status).to.equal('completed');
    expect(ran).to.deep.equal([]);
    host.model.willCall('plain');
    expect((await host.say('b', 'go')).status).to.equal('completed');
    expect(ran).to.deep.equal(['plain']);
  });

  it('lets an exemption lift a global denial, a denial of the agent beat the exemption, and a removal count at once', async () => {
    const tries = async (agent: string): Promise<boolean> => {
      ran.length = 0;
      host.model.willCall('plain');
      await host.say(agent, 'go');
      return ran.length > 0;
    };
    await add('GLOBAL_DENY', 'plain');
    await add('AGENT_EXEMPT', 'plain', 'a');
    expect([await tries('a'), await tries('b')]).to.deep.equal([true, false]);
    const own = await add('AGENT_DENY', 'plain', 'a');
    expect(await tries('a')).to.equal(false);
    expect((await host.request('DELETE', `${RULES}/${own}`)).data).to.equal(null);
    expect(await tries('a')).to.equal(true);
  });

  it('goes by the server that registered a tool', async () => {
    const id = await add('GLOBAL_DENY', 'gh:*');
    host.model.will({ calls: [{ name: 'create_issue' }, { name: 'gh_other' }] });
    await host.say('a', 'go');
    expect(ran).to.deep.equal(['gh_other']);
    expect(await effective('a')).to.deep.include({
      removed: [{ toolName: 'create_issue', reason: `denied by global rule #${id} (gh:*)` }],
    });
  });

  it('never adds a tool that the agent does not declare', async () => {
    await add('AGENT_EXEMPT', 'create_issue', 'b');
    host.model.willCall('create_issue');
    await host.say('b', 'go');
    expect(ran).to.deep.equal([]);
    expect((await host.rows('tool_invocations')).at(-1)).to.include({ blocked_by: 'undeclared' });
    expect(await effective('b')).to.deep.include({ declared: ['plain'], effective: ['plain'] });
  });

  it('answers with the rule, and marks one that no tool is meant by', async () => {
    const { data } = await host.request('POST', RULES, { ruleType: 'AGENT_DENY', agentName: 'a', pattern: 'no_such_tool' });
    expect(data).to.include({
      ruleType: 'AGENT_DENY',
      agentName: 'a',
      pattern: 'no_such_tool',
      createdBy: 'anonymous',
      unknownTarget: true,
    });
    expect(new Date((data as { createdAt: string }).createdAt).toISOString()).to.equal((data as { createdAt: string }).createdAt);
    await add('GLOBAL_DENY', 'plain');
    const { data: all } = await host.request('GET', '/api/v1/tool-policy');
    expect(
      (all as { rules: { pattern: string; unknownTarget: boolean; agentName: string | null }[] }).rules.map((rule) => [
        rule.pattern,
        rule.unknownTarget,
        rule.agentName,
      ]),
    ).to.deep.equal([
      ['no_such_tool', true, 'a'],
      ['plain', false, null],
    ]);
    await host.kernel.unload('servers');
    const { data: later } = await host.request('GET', '/api/v1/tool-policy');
    expect((later as { rules: { unknownTarget: boolean }[] }).rules[1]?.unknownTarget).to.equal(true);
  });

  it('refuses rules that mean nothing', async () => {
    const wrong = [
      {},
      { pattern: 'plain' },
      { ruleType: 'NOPE', pattern: 'plain' },
      { ruleType: 'global_deny', pattern: 'plain' },
      { ruleType: 'GLOBAL_DENY' },
      { ruleType: 'GLOBAL_DENY', pattern: '' },
      { ruleType: 'GLOBAL_DENY', pattern: '  ' },
      { ruleType: 'GLOBAL_DENY', pattern: ' plain' },
      { ruleType: 'GLOBAL_DENY', pattern: 'pl*in' },
      { ruleType: 'GLOBAL_DENY', pattern: '*' },
      { ruleType: 'GLOBAL_DENY', pattern: ':*' },
      { ruleType: 'GLOBAL_DENY', pattern: 'a:b:*' },
      { ruleType: 'GLOBAL_DENY', pattern: 'pla\u0000in' },
      { ruleType: 'GLOBAL_DENY', pattern: 'x'.repeat(256) },
      { ruleType: 'GLOBAL_DENY', agentName: 'a', pattern: 'plain' },
      { ruleType: 'AGENT_DENY', pattern: 'plain' },
      { ruleType: 'AGENT_EXEMPT', agentName: null, pattern: 'plain' },
      { ruleType: 'AGENT_EXEMPT', agentName: ' ', pattern: 'plain' },
      { ruleType: 'AGENT_DENY', agentName: '../a', pattern: 'plain' },
    ];
    for (const rule of wrong) {
      const { status, data } = await host.request('POST', RULES, rule);
      expect([status, data], JSON.stringify(rule)).to.deep.equal([400, null]);
    }
    expect(await host.rows('tool_policy_rules')).to.deep.equal([]);
    for (const id of ['1', '99999999999999999999', '-1']) expect((await host.request('DELETE', `${RULES}/${id}`)).status).to.equal(404);
    expect((await host.request('DELETE', `${RULES}/abc`)).status).to.equal(400);
  });

  it('refuses a second rule that is equal, also when both come at once', async () => {
    for (const rule of [
      { ruleType: 'GLOBAL_DENY', pattern: 'plain' },
      { ruleType: 'AGENT_DENY', agentName: 'a', pattern: 'plain' },
    ]) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => host.request('POST', RULES, rule)));
      expect(answers.map(({ status }) => status).sort((x, y) => x - y)).to.deep.equal([200, 409, 409, 409, 409]);
    }
    expect((await host.request('POST', RULES, { ruleType: 'AGENT_DENY', agentName: 'b', pattern: 'plain' })).status).to.equal(200);
    expect(await host.rows('tool_policy_rules')).to.have.length(3);
    const { data } = await host.request('GET', '/api/v1/tool-policy');
    expect((data as { rules: unknown[] }).rules).to.have.length(3);
  });

  it('keeps the rules over a swap, without a call that slips through', async () => {
    await add('GLOBAL_DENY', 'plain');
    host.model.always(({ messages }) => (messages.at(-1)?.role === 'tool' ? { content: 'done' } : { calls: [{ name: 'plain' }] }));
    let working = true;
    const worker = (async () => {
      while (working) await host.say('a', 'go');
    })();
    for (let swap = 0; swap < 50; swap += 1) {
      expect((await host.kernel.replace(policy)).state).to.equal('active');
      await breathe();
    }
    working = false;
    await worker;
    expect(ran).to.deep.equal([]);
  });
});
