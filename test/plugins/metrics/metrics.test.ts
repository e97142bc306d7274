import { expect } from 'chai';
import { definePlugin } from '../../../kernel/index.ts';
import type { MetricValue } from '../../../plugins/metrics/contract.ts';
import metrics from '../../../plugins/metrics/index.ts';
import { agentFile, fakeClock, startHost, type TestHost, until } from '../../harness/index.ts';
import { samplesIn, sumOf } from './samples.ts';

const feedback = 'settings: {on_fatal_tool_error: feedback}';
const fallback = agentFile('careful').replace('  model: test-model', '  model: test-model\n  fallback: [{name: mock, model: mock}]');

describe('metrics', function () {
  this.timeout(30_000);
  const clock = fakeClock();
  let host: TestHost;
  let values: () => readonly MetricValue[] | Promise<readonly MetricValue[]> = () => [];
  const contributing = definePlugin({
    name: 'contributing',
    setup(ctx) {
      ctx.register('metric', { name: 'test_jobs', kind: 'gauge', help: 'Jobs.', labels: ['state'], values: () => values() });
      ctx.register('metric', { name: 'oryxos_llm_calls_total', kind: 'counter', help: 'A clash.', labels: [], values: () => [] });
    },
  });
  beforeEach(async () => {
    values = () => [{ labels: { state: 'a "quoted"\\ name' }, value: 3 }];
    host = await startHost({
      clock,
      plugins: [contributing],
      agents: { a: agentFile('a', `tools: [current_time, read_file]\n${feedback}`), careful: fallback },
    });
  });
  afterEach(() => host.stop());

  const samples = async (path = '/actuator/prometheus'): Promise<ReadonlyMap<string, number>> =>
    samplesIn((await host.request('GET', path)).text);
  const calls = (provider: string, outcome: string, model = 'test-model'): string =>
    `oryxos_llm_calls_total{provider="${provider}",model="${model}",outcome="${outcome}"}`;

  it('are plain text under both paths', async () => {
    for (const path of ['/actuator/prometheus', '/metrics']) {
      const answer = await host.request('GET', path);
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
      expect(samplesIn(answer.text).size).to.be.greaterThan(50);
    }
  });

  it('show every known series with 0 before anything has happened', async () => {
    const now = await samples();
    for (const outcome of ['success', 'failed', 'interrupted']) {
      expect(now.get(calls('scripted', outcome))).to.equal(0);
      expect(now.get(calls('mock', outcome, 'mock'))).to.equal(0);
      expect(now.get(`oryxos_runs_total{origin="schedule",outcome="completed"}`)).to.equal(0);
    }
    for (const { name } of host.kernel.registry('tool').list()) {
      for (const outcome of ['success', 'failed', 'blocked']) {
        expect(now.get(`oryxos_tool_invocations_total{tool="${name}",outcome="${outcome}"}`)).to.equal(0);
      }
      expect(now.get(`oryxos_policy_blocks_total{tool="${name}"}`)).to.equal(0);
    }
    for (const type of ['prompt', 'completion'])
      expect(now.get(`oryxos_llm_tokens_total{provider="scripted",model="test-model",type="${type}"}`)).to.equal(0);
    expect(now.get('oryxos_llm_call_duration_seconds_count{provider="scripted",model="test-model"}')).to.equal(0);
    expect(now.get('oryxos_fallback_switches_total{from="scripted",to="mock"}')).to.equal(0);
    for (const kind of ['agent', 'plugin']) expect(now.get(`oryxos_reloads_total{kind="${kind}"}`)).to.equal(0);
  });

  it('count as many model calls as rows were recorded, failed ones too, with tokens and durations', async () => {
    host.model.will({ content: 'one', usage: { promptTokens: 100, completionTokens: 20, cachedTokens: 50, reasoningTokens: 5 } });
    host.model.will(async () => {
      await clock.tick(700);
      return { content: 'two' };
    });
    host.model.willFail({ status: 400, switchable: false });
    host.model.willFail({ status: 503 });
    for (const agent of ['a', 'a', 'a', 'careful']) await host.say(agent, 'hi');

    const now = await samples();
    const rows = await host.rows('llm_calls');
    expect(rows).to.have.length(5);
    expect(sumOf(now, 'oryxos_llm_calls_total')).to.equal(rows.length);
    expect(now.get(calls('scripted', 'success'))).to.equal(2);
    expect(now.get(calls('scripted', 'failed'))).to.equal(2);
    expect(now.get(calls('mock', 'success', 'mock'))).to.equal(1);
    expect(now.get('oryxos_fallback_switches_total{from="scripted",to="mock"}')).to.equal(1);
    expect(now.get('oryxos_llm_tokens_total{provider="scripted",model="test-model",type="prompt"}')).to.equal(100);
    expect(now.get('oryxos_llm_tokens_total{provider="scripted",model="test-model",type="completion"}')).to.equal(20);
    const duration = 'oryxos_llm_call_duration_seconds';
    expect(now.get(`${duration}_count{provider="scripted",model="test-model"}`)).to.equal(4);
    expect(now.get(`${duration}_sum{provider="scripted",model="test-model"}`)).to.equal(0.7);
    expect(now.get(`${duration}_bucket{le="0.5",provider="scripted",model="test-model"}`)).to.equal(3);
    expect(now.get(`${duration}_bucket{le="1",provider="scripted",model="test-model"}`)).to.equal(4);
    expect(now.get('oryxos_runs_total{origin="invoke",outcome="completed"}')).to.equal(3);
    expect(now.get('oryxos_runs_total{origin="invoke",outcome="failed"}')).to.equal(1);
  });

  it('count tool calls by what became of them, and made-up names as unknown', async () => {
    await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'AGENT_DENY', agentName: 'a', pattern: 'list_dir' });
    host.model.willCall('current_time');
    host.model.willCall('read_file', { path: 'nowhere.txt' });
    host.model.willCall('read_file', { path: '/etc/passwd' });
    host.model.willCall(`made_up_${'x'.repeat(500)}`);
    host.model.willCall('another\n"name"');
    host.model.willSay('done');
    await host.say('a', 'go');
    const now = await samples();
    expect(now.get('oryxos_tool_invocations_total{tool="current_time",outcome="success"}')).to.equal(1);
    expect(now.get('oryxos_tool_invocations_total{tool="read_file",outcome="failed"}')).to.equal(1);
    expect(now.get('oryxos_tool_invocations_total{tool="read_file",outcome="blocked"}')).to.equal(1);
    expect(now.get('oryxos_tool_invocations_total{tool="unknown",outcome="failed"}')).to.equal(2);
    expect(sumOf(now, 'oryxos_tool_invocations_total')).to.equal((await host.rows('tool_invocations')).length);
    expect(sumOf(now, 'oryxos_policy_blocks_total')).to.equal(0);
    expect([...now.keys()].filter((series) => series.includes('made_up') || series.includes('another'))).to.deep.equal([]);
  });

  it('count what the policy refused, by tool', async () => {
    await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'GLOBAL_DENY', pattern: 'current_time' });
    host.model.willCall('current_time');
    host.model.willSay('done');
    await host.say('a', 'go');
    const now = await samples();
    expect(now.get('oryxos_policy_blocks_total{tool="current_time"}')).to.equal(1);
    expect(sumOf(now, 'oryxos_policy_blocks_total')).to.equal(1);
    expect(now.get('oryxos_tool_invocations_total{tool="current_time",outcome="blocked"}')).to.equal(1);
  });

  it('count agents and plugins that were replaced', async () => {
    await host.write('agents/a/AGENT.md', agentFile('a', 'tools: []', 'Another text.'));
    await host.kernel.service('agents').settled();
    await host.write('agents/fresh/AGENT.md', agentFile('fresh'));
    await host.kernel.service('agents').settled();
    await samples();
    await host.kernel.replace(contributing);
    const now = await samples();
    expect(now.get('oryxos_reloads_total{kind="agent"}')).to.equal(1);
    expect(now.get('oryxos_reloads_total{kind="plugin"}')).to.equal(1);
    expect((await samples()).get('oryxos_reloads_total{kind="plugin"}')).to.equal(1);
  });

  it('say how the process does', async () => {
    const now = await samples();
    const wall = clock.now() / 1000;
    expect(now.get('process_resident_memory_bytes')).to.be.greaterThan(1e7);
    expect(now.get('nodejs_heap_used_bytes')).to.be.greaterThan(1e6);
    expect(now.get('process_cpu_seconds_total')).to.be.greaterThan(0);
    expect(now.get('process_start_time_seconds')).to.be.within(wall - 3_600, wall + 1);
  });

  it('show how long the event loop was blocked since they were last looked at', async () => {
    const worst = 'oryxos_event_loop_lag_seconds{quantile="1"}';
    await until('a blocked loop to show', async () => {
      // The measurement needs two ticks of its own after a look before it sees anything.
      const looked = performance.now();
      await until('ticks', () => performance.now() - looked > 60);
      const since = performance.now();
      while (performance.now() - since < 100);
      return ((await samples()).get(worst) ?? 0) > 0.05;
    });
    await until('a free loop to show', async () => ((await samples()).get(worst) ?? 1) < 0.05);
  });

  it('hold those of other plugins as long as these are loaded', async () => {
    const series = 'test_jobs{state="a \\"quoted\\"\\\\ name"}';
    expect((await samples()).get(series)).to.equal(3);
    values = async () => [{ labels: { state: 'b' }, value: 1 }];
    const now = await samples();
    expect(now.get('test_jobs{state="b"}')).to.equal(1);
    expect(now.has(series)).to.equal(false);
    await host.kernel.unload('contributing');
    expect([...(await samples()).keys()].filter((key) => key.startsWith('test_'))).to.deep.equal([]);
    await host.kernel.load(contributing);
    expect((await samples()).get('test_jobs{state="b"}')).to.equal(1);
  });

  it('leave out one that throws, hangs or is none, and go on', async () => {
    const names = async (): Promise<readonly string[]> => [...(await samples()).keys()];
    values = () => {
      throw new Error('broken');
    };
    expect(await names())
      .to.include(calls('scripted', 'failed'))
      .and.not.include('test_jobs{state="b"}');
    values = () => [{ labels: { other: 'b' }, value: 1 }];
    expect((await names()).filter((key) => key.startsWith('test_'))).to.deep.equal([]);
    values = () => new Promise(() => {});
    const asked = host.request('GET', '/metrics');
    let isOver = false;
    void asked.then(() => (isOver = true));
    await until('an answer', async () => {
      await clock.tick(100);
      return isOver;
    });
    expect(samplesIn((await asked).text).has(calls('scripted', 'success'))).to.equal(true);
  });

  it('change no result, and nothing of them stays when the plugin leaves', async () => {
    values = () => {
      throw new Error('broken');
    };
    expect((await host.say('a', 'hi')).reply).to.equal('ok');
    await host.kernel.unload('metrics');
    expect((await host.request('GET', '/metrics')).status).to.equal(404);
    expect((await host.say('a', 'hi')).reply).to.equal('ok');
    const taps = host.kernel.tapCount();
    for (let round = 0; round < 10; round += 1) {
      await host.kernel.load(metrics);
      await host.kernel.unload('metrics');
    }
    expect(host.kernel.tapCount()).to.equal(taps);
  });
});
