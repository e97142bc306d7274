import { expect } from 'chai';
import { defineTool, fail, ok, definePlugin, type Plugin, type Tool, type ToolResult, type TurnEvent } from '../../kernel/index.ts';
import { agentFile, fakeClock, startHost, until } from '../harness/index.ts';

/** A plugin that offers these tools. */
const offering = (...tools: readonly Tool[]): Plugin =>
  definePlugin({
    name: 'test-tools',
    setup(ctx) {
      for (const tool of tools) ctx.register('tool', tool);
    },
  });

const counter = (): { tool: Tool; runs: () => number } => {
  let runs = 0;
  const tool = defineTool({
    name: 'count',
    description: 'Count up.',
    input: { type: 'object', properties: { by: { type: 'integer', default: 1 } }, additionalProperties: false },
    async execute({ by }) {
      runs += by;
      return ok(`now ${runs}`);
    },
  });
  return { tool, runs: () => runs };
};

const broken = defineTool({
  name: 'broken',
  description: 'Fail.',
  input: { type: 'object', properties: { retryable: { type: 'boolean' } }, additionalProperties: false },
  execute: async ({ retryable }) => fail('it broke', { retryable: retryable ?? false }),
});

/** A tool's answer that never comes by itself. */
const untilAborted = (signal: AbortSignal): Promise<ToolResult> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(ok('too late'))));

const agent = (extra = '', tools = '[count, broken]'): Record<string, string> => ({ t: agentFile('t', `tools: ${tools}\n${extra}`) });

describe('a turn', () => {
  it('returns the text of the model', async () => {
    await using host = await startHost({ agents: agent() });
    host.model.willSay('hello there');
    const outcome = await host.say('t', 'hi');
    expect(outcome).to.include({ status: 'completed', reply: 'hello there', stopReason: 'completed' });
  });

  it('runs what the model calls and feeds the result back', async () => {
    const { tool, runs } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool, broken)] });
    host.model.willCall('count', { by: 2 });
    host.model.willSay('counted');
    const outcome = await host.say('t', 'go');
    expect(outcome.reply).to.equal('counted');
    expect(runs()).to.equal(2);
    expect(host.model.requests[1]?.messages.at(-1)).to.deep.include({ role: 'tool', toolName: 'count', content: 'now 2' });
  });

  it('offers exactly the declared tools, each once', async () => {
    const { tool } = counter();
    await using host = await startHost({ agents: agent('', '[count, count, missing]'), plugins: [offering(tool, broken)] });
    await host.say('t', 'go');
    expect(host.model.requests[0]?.tools.map(({ name }) => name)).to.deep.equal(['count']);
  });

  it('gives the model the body of AGENT.md and picks up an edit of it', async () => {
    await using host = await startHost({ agents: { t: agentFile('t', 'tools: []', 'Speak of apples.') } });
    await host.say('t', 'hi');
    expect(host.model.requests[0]?.system).to.include('Speak of apples.');
    await host.write('agents/t/AGENT.md', agentFile('t', 'tools: []', 'Speak of pears.'));
    await until('the edit is live', async () => {
      await host.say('t', 'hi');
      return host.model.requests.at(-1)?.system.includes('Speak of pears.');
    });
  });

  for (const [given, text] of [
    ['an empty text', ''],
    ['null', 'null'],
  ] as const) {
    it(`takes ${given} as empty arguments`, async () => {
      const { tool, runs } = counter();
      await using host = await startHost({ agents: agent(), plugins: [offering(tool, broken)] });
      host.model.willCall('count', text);
      await host.say('t', 'go');
      expect(runs()).to.equal(1);
    });
  }

  for (const [what, args, message] of [
    ['broken JSON', '{bad', /not valid JSON/],
    ['a list', '[1]', /must be a JSON object/],
    ['a wrong type', { by: 'two' }, /by/],
    ['an unknown parameter', { by: 1, extra: true }, /extra/],
  ] as const) {
    it(`does not run a tool with ${what} and tells the model why`, async () => {
      const { tool, runs } = counter();
      await using host = await startHost({ agents: agent(), plugins: [offering(tool, broken)] });
      host.model.willCall('count', args);
      host.model.willSay('sorry');
      const outcome = await host.say('t', 'go');
      expect(outcome.status).to.equal('completed');
      expect(runs()).to.equal(0);
      const [, , told] = host.model.requests[1]?.messages ?? [];
      expect(told?.content).to.match(message);
    });
  }

  it('tells the model that a tool does not exist and goes on', async () => {
    await using host = await startHost({ agents: agent() });
    host.model.willCall('rm_rf');
    host.model.willSay('never mind');
    const outcome = await host.say('t', 'go');
    expect(outcome.reply).to.equal('never mind');
    expect(host.model.requests[1]?.messages.at(-1)?.content).to.equal('Tool failed: Unknown tool: rm_rf');
  });

  it('refuses a tool that exists and is not declared', async () => {
    const { tool, runs } = counter();
    await using host = await startHost({ agents: agent('', '[broken]'), plugins: [offering(tool, broken)] });
    host.model.willCall('count');
    const outcome = await host.say('t', 'go');
    expect(outcome.error).to.include({ code: 'ORYX_TOOL_FATAL', status: 422 });
    expect(outcome.error?.message).to.include('does not declare');
    expect(runs()).to.equal(0);
  });

  it('replaces blank and repeated call ids, the same in call and result', async () => {
    const { tool } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool, broken)] });
    host.model.will({
      calls: [
        { name: 'count', id: '' },
        { name: 'count', id: 'x' },
        { name: 'count', id: 'x' },
      ],
    });
    const outcome = await host.say('t', 'go');
    const [asked, ...results] = outcome.messages;
    const ids = asked?.role === 'assistant' ? asked.toolCalls.map(({ id }) => id) : [];
    expect(new Set(ids).size).to.equal(3);
    expect(ids).to.not.include('');
    expect(results.slice(0, 3).map((message) => (message.role === 'tool' ? message.toolCallId : ''))).to.deep.equal(ids);
  });

  it('ends at a failure that is not retryable and keeps what was done', async () => {
    const { tool, runs } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool, broken)] });
    host.model.will({ content: 'let me see', calls: [{ name: 'count' }, { name: 'broken' }, { name: 'count' }] });
    const outcome = await host.say('t', 'go');
    expect(outcome).to.include({ status: 'failed', stopReason: 'error', reply: 'let me see' });
    expect(outcome.error?.message).to.equal('broken: it broke');
    expect(runs()).to.equal(1);
    expect(outcome.messages.map(({ content }) => content)).to.deep.equal([
      'let me see',
      'now 1',
      'Tool failed: it broke',
      'Tool failed: not executed, an earlier call ended the run',
    ]);
  });

  it('feeds such a failure back when the agent asks for it', async () => {
    await using host = await startHost({ agents: agent('settings:\n  on_fatal_tool_error: feedback\n'), plugins: [offering(broken)] });
    host.model.willCall('broken');
    host.model.willSay('I see');
    expect(await host.say('t', 'go')).to.include({ status: 'completed', reply: 'I see' });
  });

  it('goes on after a retryable failure', async () => {
    await using host = await startHost({ agents: agent(), plugins: [offering(broken)] });
    host.model.willCall('broken', { retryable: true });
    host.model.willSay('I see');
    expect((await host.say('t', 'go')).reply).to.equal('I see');
  });

  it('returns what was said at the limit of iterations', async () => {
    const { tool } = counter();
    await using host = await startHost({ agents: agent('settings:\n  max_iterations: 2\n'), plugins: [offering(tool)] });
    host.model.always({ content: 'again', calls: [{ name: 'count' }] });
    const outcome = await host.say('t', 'go');
    expect(outcome).to.include({ status: 'completed', stopReason: 'max_iterations', reply: 'again\n\nagain' });
    expect(host.model.requests).to.have.length(2);
  });

  it('ends a model that goes in circles', async () => {
    const idle = defineTool({ name: 'count', description: 'x', input: { type: 'object' }, execute: async () => ok('same') });
    await using host = await startHost({ agents: agent(), plugins: [offering(idle)] });
    host.model.always({ calls: [{ name: 'count' }] });
    const outcome = await host.say('t', 'go');
    expect(outcome).to.include({ status: 'completed', stopReason: 'loop' });
    expect(host.model.requests).to.have.length(3);
  });

  it('runs 32 calls of one answer and answers the rest with a failure', async () => {
    const { tool, runs } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool)] });
    host.model.will({ calls: Array.from({ length: 40 }, () => ({ name: 'count', arguments: { by: 1 } })) });
    host.model.willSay('done');
    const outcome = await host.say('t', 'go');
    expect(outcome.reply).to.equal('done');
    expect(runs()).to.equal(32);
    expect(outcome.messages.at(-2)?.content).to.include('at most 32 calls');
  });

  it('emits trace first, pairs of tool events, and tokens that concatenate to the reply', async () => {
    const { tool } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool)] });
    host.model.will({ content: 'first part', calls: [{ name: 'count' }] });
    host.model.willSay('second part');
    const events: TurnEvent[] = [];
    const outcome = await host.say('t', 'go', (event) => events.push(event));
    expect(events[0]).to.deep.equal({ type: 'trace', traceId: outcome.turnId });
    const tokens = events.flatMap((event) => (event.type === 'token' ? [event.delta] : []));
    expect(tokens.join('')).to.equal(outcome.reply);
    expect(outcome.reply).to.equal('first part\n\nsecond part');
    expect(events.filter(({ type }) => type.startsWith('tool'))).to.deep.equal([
      { type: 'tool_start', name: 'count' },
      { type: 'tool_end', name: 'count', success: true },
    ]);
  });

  it('accepts an empty answer', async () => {
    await using host = await startHost({ agents: agent() });
    host.model.willSay('');
    expect(await host.say('t', 'go')).to.include({ status: 'completed', reply: '' });
  });

  it('stops a tool at its deadline, for good', async () => {
    const clock = fakeClock();
    const slow = defineTool({ name: 'count', description: 'x', input: { type: 'object' }, execute: (_, run) => untilAborted(run.signal) });
    await using host = await startHost({ agents: agent(), plugins: [offering(slow)], clock });
    host.model.willCall('count');
    const outcome = host.say('t', 'go');
    await until('the tool runs', () => host.kernel.service('engine').active()[0]?.step === 'tool/1/1');
    await clock.tick(121_000);
    expect((await outcome).error).to.include({ code: 'ORYX_TOOL_FATAL', message: 'count: count timed out after 120 s' });
  });

  it('ends at its own deadline with 504', async () => {
    const clock = fakeClock();
    await using host = await startHost({ agents: agent('settings:\n  timeout_seconds: 5\n'), clock });
    host.model.will({ after: new Promise(() => undefined) });
    const outcome = host.say('t', 'go');
    await until('the model is asked', () => host.model.requests.length === 1);
    await clock.tick(5_001);
    expect((await outcome).error).to.include({ code: 'ORYX_TURN_TIMEOUT', status: 504 });
  });

  it('echoes what a provider needs back, to that provider only', async () => {
    const { tool } = counter();
    await using host = await startHost({ agents: agent(), plugins: [offering(tool)] });
    host.model.will({ calls: [{ name: 'count' }], echo: { reasoning_content: 'hm' } });
    await host.say('t', 'go');
    expect(host.model.requests[1]?.messages[1]).to.deep.include({ echo: { provider: 'scripted', fields: { reasoning_content: 'hm' } } });
  });

  it('does not let a hook that failed to guard run a tool', async () => {
    const { tool, runs } = counter();
    const guard = definePlugin({
      name: 'bad-guard',
      setup(ctx) {
        ctx.tap('beforeToolCall', () => {
          throw new Error('boom');
        });
      },
    });
    await using host = await startHost({ agents: agent(), plugins: [offering(tool), guard] });
    host.model.willCall('count');
    const outcome = await host.say('t', 'go');
    expect(outcome.status).to.equal('failed');
    expect(runs()).to.equal(0);
  });
});
