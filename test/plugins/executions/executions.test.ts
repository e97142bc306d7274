import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentFile, startHost, type TestHost, until } from '../../harness/index.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- views of every shape
type View = any;

const trigger = (host: TestHost, body?: unknown, headers?: Record<string, string>) =>
  host.request('POST', '/api/v1/agents/default/trigger', body, headers);
const executions = async (host: TestHost): Promise<readonly View[]> =>
  (await host.request('GET', '/api/v1/agents/default/executions')).data;
const ended = (host: TestHost): Promise<readonly View[]> =>
  until('all to end', async () => {
    const rows = await executions(host);
    return rows.length > 0 && rows.every(({ status }) => status !== 'RUNNING') ? rows : undefined;
  });

describe('triggering an agent', function () {
  this.timeout(20_000);

  it('answers at once and records the end, with trace and session of the console', async () => {
    await using host = await startHost();
    let finish = (): void => undefined;
    host.model.will({ content: 'done', after: new Promise<void>((resolve) => (finish = resolve)) });
    const answer = await trigger(host, { content: 'hello' });
    expect(answer.status).to.equal(200);
    expect(answer.data).to.deep.equal({ executionId: answer.data.executionId, status: 'RUNNING' });
    const [running] = await executions(host);
    expect(running).to.include({ id: answer.data.executionId, agentName: 'default', source: 'manual', status: 'RUNNING' });
    expect(running).to.include({ endedAt: null, durationMs: null, errorMessage: null, reason: null });
    expect((await host.request('GET', '/api/v1/runs')).data[0]).to.include({ origin: 'trigger', traceId: running.traceId });
    finish();
    const [row] = await ended(host);
    expect(row).to.include({ status: 'SUCCESS', sessionId: 'admin:console:default', traceId: answer.headers['x-trace-id'], reason: null });
    expect(row.endedAt).to.be.a('string');
    expect(row.durationMs).to.be.at.least(0);
    const session = (await host.request('GET', '/api/v1/agents/default/session')).data;
    expect(session.messages.map(({ content }: View) => content)).to.deep.equal(['hello', 'done']);
  });

  it('says something generic when it is given no words', async () => {
    await using host = await startHost();
    for (const body of [undefined, {}, { content: null }, { content: '   ' }]) expect((await trigger(host, body)).status).to.equal(200);
    await until('four ends', async () => (await ended(host)).length === 4);
    const said = host.model.requests.map(({ messages }) => (messages.at(-1) as View).content);
    expect(new Set(said).size).to.equal(1);
    expect(said[0]).to.include('triggered');
  });

  it('refuses what is too long, unknown and broken agents, and records nothing', async () => {
    await using host = await startHost({ agents: { broken: 'no front matter' } });
    expect((await trigger(host, { content: 'x'.repeat(32_769) })).status).to.equal(400);
    expect((await trigger(host, { content: '😀'.repeat(16_385) })).status).to.equal(400);
    expect((await trigger(host, { content: 7 })).status).to.equal(400);
    expect((await host.request('POST', '/api/v1/agents/none/trigger')).status).to.equal(404);
    expect((await host.request('POST', '/api/v1/agents/broken/trigger')).status).to.equal(409);
    expect((await host.request('GET', '/api/v1/agents/none/executions')).status).to.equal(404);
    expect((await host.request('GET', '/api/v1/agents/broken/executions')).data).to.deep.equal([]);
    expect(await host.rows('agent_executions')).to.deep.equal([]);
  });

  it('is one run for one Idempotency-Key', async () => {
    await using host = await startHost();
    const key = { 'idempotency-key': 'once' };
    const answers = await Promise.all([1, 2, 3].map(() => trigger(host, { content: 'a' }, key)));
    expect(new Set(answers.map(({ data }) => data.executionId)).size).to.equal(1);
    await ended(host);
    expect((await trigger(host, { content: 'a' }, key)).data).to.deep.equal(answers[0]?.data);
    expect((await trigger(host, { content: 'b' }, key)).status).to.equal(409);
    expect(await executions(host)).to.have.length(1);
    expect(host.model.requests).to.have.length(1);
  });

  it('records failures and cancellations with a reason', async () => {
    await using host = await startHost();
    host.model.willFail({ message: 'it is down', switchable: false });
    await trigger(host);
    expect((await ended(host))[0]).to.include({ status: 'FAILED' });
    expect((await executions(host))[0].reason).to.include('it is down');
    host.model.will({ content: 'never', after: new Promise(() => undefined) });
    const { headers } = await trigger(host);
    await host.request('DELETE', `/api/v1/runs/${String(headers['x-trace-id'])}`);
    expect((await ended(host))[0]).to.include({ status: 'FAILED', reason: 'cancelled' });
    const { text } = await host.request('GET', '/actuator/prometheus');
    expect(text).to.include('oryxos_executions_total{source="manual",outcome="failed"} 2');
    expect(text).to.include('oryxos_executions_total{source="schedule",outcome="interrupted"} 0');
  });

  it('shows the 50 newest, newest first', async () => {
    await using host = await startHost();
    for (let run = 0; run < 52; run += 1) await trigger(host);
    const rows = await ended(host);
    expect(rows).to.have.length(50);
    expect(rows.map(({ id }) => id)).to.deep.equal(rows.map(({ id }) => id).toSorted((a, b) => b - a));
  });

  describe('over a restart', () => {
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'oryxos-test-'));
    });
    afterEach(() => rm(home, { recursive: true, force: true }));
    const start = (mode: 'serve' | 'embedded' = 'serve') =>
      startHost({ home, mode, files: { 'agents/default/AGENT.md': agentFile('default') } });

    it('follows the run to its end; a short-lived host in between leaves it alone', async () => {
      const first = await start();
      first.model.will({ content: 'never', after: new Promise(() => undefined) });
      await trigger(first);
      await until('the model to be asked', () => first.model.requests.length === 1);
      await first.stop();

      const between = await start('embedded');
      expect((await executions(between))[0]).to.include({ status: 'RUNNING' });
      await between.stop();

      await using second = await start();
      expect((await ended(second))[0]).to.include({ status: 'SUCCESS' });
    });

    it('closes a row whose run nobody knows', async () => {
      const first = await start();
      await first.kernel.service('store').write({
        sql: `INSERT INTO agent_executions (agent_name, source, trace_id, status, started_at) VALUES ('default', 'manual', 'gone', 'running', 1)`,
        params: [],
      });
      await first.stop();
      await using second = await start();
      const [row] = await ended(second);
      expect(row).to.include({ status: 'INTERRUPTED' });
      expect(row.reason).to.include('could not be taken up again');
    });
  });
});
