import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { LogLine } from '../../../kernel/index.ts';
import { definePlugin, defineTool, fail, ok } from '../../../kernel/index.ts';
import type { TestHost } from '../../harness/index.ts';
import { agentFile, startHost } from '../../harness/index.ts';

interface Step {
  readonly seq: number;
  readonly type: 'LLM' | 'TOOL';
  readonly name: string;
  readonly at: string;
  readonly inputSummary?: string | null;
  readonly resultSummary?: string | null;
  readonly errorMessage: string | null;
}

const feedback = 'settings: {on_fatal_tool_error: feedback}';
const agents = {
  t: agentFile('t', `tools: [json_extract, echo, save_memory]\n${feedback}`),
  strict: agentFile('strict', 'tools: [echo, save_memory]'),
};

/** Says back what it is told, or fails with it. */
const echo = (lines: string[] = []) =>
  definePlugin({
    name: 'echo',
    setup(ctx) {
      ctx.register(
        'tool',
        defineTool({
          name: 'echo',
          description: 'Echo.',
          input: { type: 'object', properties: { text: { type: 'string' }, fail: { type: 'boolean' } }, required: ['text'] },
          async execute({ text, fail: failing }) {
            ctx.log.info('the tool was called', { text });
            lines.push(text);
            return failing === true ? { ...fail(`cannot echo ${text}`), retryable: false } : ok(text);
          },
        }),
      );
    },
  });

describe('the trace of a run', function () {
  this.timeout(20_000);
  let host: TestHost;
  before(async () => {
    host = await startHost({ agents, plugins: [echo()] });
  });
  after(() => host.stop());

  const timelineOf = async (agent = 't') => {
    const { turnId } = await host.say(agent, 'go');
    const answer = await host.request('GET', `/api/v1/audit/trace/${turnId}`);
    expect(answer.status).to.equal(200);
    return answer.data as { traceId: string; found: boolean; steps: readonly Step[]; summary: Readonly<Record<string, unknown>> };
  };

  it('shows model call, tool call, model call, numbered from 1, with their sums', async () => {
    host.model.will({
      calls: [{ name: 'json_extract', arguments: { json: '{"a":1}', path: 'a' } }],
      usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    });
    host.model.will({ content: 'done', usage: { promptTokens: 20, completionTokens: 2, totalTokens: 22 } });
    const { traceId, found, steps, summary } = await timelineOf();
    expect(traceId).to.match(/^[0-9a-f-]{36}$/);
    expect(found).to.equal(true);
    expect(steps.map(({ seq, type, name }) => [seq, type, name])).to.deep.equal([
      [1, 'LLM', 'test-model'],
      [2, 'TOOL', 'json_extract'],
      [3, 'LLM', 'test-model'],
    ]);
    expect(steps[0]).to.include({
      success: true,
      promptTokens: 10,
      completionTokens: 5,
      totalTokens: 15,
      costMicros: null,
      errorMessage: null,
    });
    expect(steps[1]).to.include({ success: true, inputSummary: '{"json":"{\\"a\\":1}","path":"a"}', resultSummary: '1', blockedBy: null });
    expect(steps.every(({ at }) => new Date(at).toISOString() === at)).to.equal(true);
    expect(summary).to.include({ steps: 3, llmCalls: 2, toolCalls: 1, totalTokens: 37, costMicros: null });
    const durations = (steps as readonly { durationMs?: number }[]).map(({ durationMs = 0 }) => durationMs);
    expect(summary['totalDurationMs']).to.equal(durations.reduce((sum, duration) => sum + duration, 0));
  });

  it('is empty, and no error, for an id that nothing is known about', async () => {
    const id = randomUUID();
    const { status, data } = await host.request('GET', `/api/v1/audit/trace/${id}`);
    expect(status).to.equal(200);
    expect(data).to.deep.equal({
      traceId: id,
      found: false,
      steps: [],
      summary: { steps: 0, llmCalls: 0, toolCalls: 0, totalTokens: 0, costMicros: 0, totalDurationMs: 0 },
    });
  });

  it('leaves out tokens that were not reported, and says null when none was', async () => {
    host.model.will({ calls: [{ name: 'echo', arguments: { text: 'x' } }], usage: { totalTokens: 7 } });
    host.model.willSay('done');
    expect((await timelineOf()).summary['totalTokens']).to.equal(7);
    host.model.willSay('hello');
    expect((await timelineOf()).summary['totalTokens']).to.equal(null);
  });

  it('masks secrets in what it shows; the database keeps them', async () => {
    const secrets = {
      password: 'hunter2longvalue',
      k: 'sk-abcdefghijklmnop',
      h: 'Authorization: Bearer abcdefghijklmnop',
      u: 'http://bob:pa55word@h/x',
      t: 'oryx_abcdefghijkl',
    };
    const text = JSON.stringify(secrets);
    host.model.willCall('echo', { text });
    host.model.willSay('done');
    const timeline = await timelineOf();
    const shown = JSON.stringify(timeline);
    for (const secret of ['hunter2longvalue', 'abcdefghijklmnop', 'pa55word', 'oryx_abcdefghijkl']) expect(shown).to.not.include(secret);
    expect(shown).to.include('sk-a****');
    const row = (await host.rows('tool_invocations')).at(-1);
    expect(JSON.parse(row?.['input_json'] as string)).to.deep.equal({ text });
    expect(row?.['result_json']).to.equal(text);
  });

  it('masks first and cuts to 200 characters afterwards', async () => {
    // Wherever the cut falls: half a key is no key that a rule would know.
    const lengths = Array.from({ length: 31 }, (_, n) => 170 + n);
    host.model.will({
      calls: lengths.map((length) => ({ name: 'echo', arguments: { text: `${'x'.repeat(length)} sk-abcdefghijklmnopqrstuvwxyz0123` } })),
    });
    host.model.willCall('echo', { text: '😀'.repeat(300) });
    host.model.willSay('done');
    const timeline = await timelineOf();
    expect(timeline.steps).to.have.length(35);
    expect(JSON.stringify(timeline)).to.include('sk-a****').and.not.include('sk-ab');
    for (const { inputSummary, resultSummary } of timeline.steps) {
      expect(inputSummary?.length ?? 0).to.be.at.most(200);
      expect(() => encodeURIComponent(resultSummary ?? ''), 'half a character').to.not.throw();
    }
  });

  it('shows failed, unknown and refused calls, and failed model calls, with their masked reasons', async () => {
    const rule = await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'GLOBAL_DENY', pattern: 'save_memory' });
    host.model.will({
      calls: [
        { name: 'echo', arguments: { text: 'token=abcdefghijkl', fail: true } },
        { name: 'sk-abcdefghijklmnop' },
        { name: 'save_memory', arguments: { content: 'x' } },
        { name: 'echo', arguments: '{bad' },
      ],
    });
    host.model.willFail({ message: 'refused the key sk-abcdefghijklmnop' });
    const { steps } = await timelineOf();
    expect(steps.slice(1).map(({ errorMessage }) => errorMessage)).to.deep.equal([
      'cannot echo token=abcd****',
      'Unknown tool: sk-a****',
      steps[3]?.errorMessage,
      'Bad arguments for echo: the arguments are not valid JSON',
      'refused the key sk-a****',
    ]);
    expect(steps[2]).to.include({ name: 'sk-a****' });
    expect(steps[3]).to.include({ blockedBy: 'policy', success: false });
    expect(steps[3]?.errorMessage).to.include('denied by global rule');
    await host.request('DELETE', `/api/v1/tool-policy/rules/${(rule.data as { id: number }).id}`);
  });

  it('numbers calls that ran side by side', async () => {
    const json = { json: '{}', path: '' };
    host.model.will({ calls: Array.from({ length: 8 }, () => ({ name: 'json_extract', arguments: json })) });
    const { steps } = await timelineOf();
    expect(steps.map(({ type }) => type)).to.deep.equal(['LLM', ...Array.from({ length: 8 }, () => 'TOOL'), 'LLM']);
    const rows = (await host.rows('tool_invocations')).slice(-8).map(({ seq }) => seq);
    expect(rows).to.deep.equal([2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('the trace id', () => {
  it('stands in every log line of a run, also in those of tools', async () => {
    const lines: LogLine[] = [];
    const sink = definePlugin({
      name: 'lines',
      setup: (ctx) => void ctx.register('logSink', { name: 'lines', write: (line) => lines.push(line) }),
    });
    await using host = await startHost({ agents, plugins: [sink, echo()] });
    lines.length = 0;
    host.model.willCall('echo', { text: 'x', fail: true });
    host.model.willFail({ message: 'no' });
    const { turnId } = await host.say('t', 'go');
    expect(lines.map(({ plugin }) => plugin)).to.include.members(['echo', 'kernel']);
    expect(new Set(lines.map(({ traceId }) => traceId))).to.deep.equal(new Set([turnId]));
  });
});

describe('error texts', () => {
  const SECRET = 'sk-abcdefghijklmnop';

  it('are masked in answers and in streams; what the model hears and says is not', async () => {
    await using host = await startHost({ agents, plugins: [echo()] });
    host.model.always({ calls: [{ name: 'echo', arguments: { text: SECRET, fail: true } }] });
    const answer = await host.request('POST', '/api/v1/agents/strict/invoke', { content: 'go' });
    expect(answer).to.include({ status: 422, message: 'echo: cannot echo sk-a****' });

    const streamed = await host.stream('/api/v1/agents/strict/invoke', { content: 'go' });
    expect(streamed.text).to.not.include(SECRET);
    expect(streamed.events.at(-1)).to.deep.include({ event: 'error', data: { code: 422, message: 'echo: cannot echo sk-a****' } });

    host.model.will({ content: `your key is ${SECRET}` });
    const talk = await host.stream('/api/v1/agents/strict/invoke', { content: 'go' });
    expect(talk.events.at(-1)?.data).to.include({ reply: `your key is ${SECRET}` });
  });

  it('are masked again when a request is repeated', async () => {
    await using host = await startHost({ agents, plugins: [echo()] });
    host.model.always({ calls: [{ name: 'echo', arguments: { text: SECRET, fail: true } }] });
    const key = { 'idempotency-key': 'once' };
    for (let round = 0; round < 2; round += 1) {
      const answer = await host.request('POST', '/api/v1/agents/strict/invoke', { content: 'go' }, key);
      expect(answer).to.include({ status: 422, message: 'echo: cannot echo sk-a****' });
    }
  });

  it('do not stand in events of tools, which carry a masked name and whether it went well', async () => {
    await using host = await startHost({ agents, plugins: [echo()] });
    host.model.will({ calls: [{ name: 'echo', arguments: { text: SECRET, fail: true } }, { name: SECRET }] });
    const { events, text } = await host.stream('/api/v1/agents/t/invoke', { content: 'go' });
    const tools = events.filter(({ event }) => event.startsWith('tool_'));
    expect(tools.map(({ data }) => data as unknown)).to.deep.equal([
      { name: 'echo' },
      { name: 'echo', success: false },
      { name: 'sk-a****' },
      { name: 'sk-a****', success: false },
    ]);
    expect(text).to.not.include(SECRET);
  });
});
