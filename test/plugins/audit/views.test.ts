import { expect } from 'chai';
import type { FakeClock, TestHost } from '../../harness/index.ts';
import { agentFile, fakeClock, startHost } from '../../harness/index.ts';

const DAY_MS = 86_400_000;
const EMPTY_LLM = {
  count: 0,
  successCount: 0,
  successRate: null,
  avgDurationMs: null,
  totalPromptTokens: 0,
  totalCompletionTokens: 0,
  totalCostMicros: 0,
};

interface Row {
  readonly id: number;
  readonly success: boolean;
  readonly [key: string]: unknown;
}
interface Group {
  readonly key: string;
  readonly count: number;
  readonly successCount: number;
  readonly totalCostMicros: number | null;
}

describe('the audit views', function () {
  this.timeout(30_000);
  let host: TestHost;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const feedback = 'settings: {on_fatal_tool_error: feedback}';
    const agents = {
      a: agentFile('a', `tools: [json_extract, current_time]\n${feedback}`),
      b: agentFile('b', `tools: [json_extract]\n${feedback}`),
    };
    host = await startHost({ agents, clock });
    for (const agent of ['a', 'b', 'a']) {
      host.model.will({
        calls: [
          { name: 'json_extract', arguments: { json: '{}', path: '' } },
          { name: 'json_extract', arguments: '{bad' },
          { name: 'current_time', arguments: {} },
        ],
        usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
      });
      host.model.will({ content: 'done', usage: { promptTokens: 20 } });
      await host.say(agent, 'go');
      await clock.tick(1_000);
    }
    host.model.willFail({ message: 'no' });
    await host.say('b', 'go');
    await clock.jump(10 * DAY_MS);
    host.model.willSay('ten days later');
    await host.say('a', 'go');
  });
  after(() => host.stop());

  const get = async <T>(path: string): Promise<T> => {
    const { status, data, message } = await host.request('GET', `/api/v1/audit/${path}`);
    expect(status, message).to.equal(200);
    return data as T;
  };
  const at = (ms: number): string => new Date(ms).toISOString();
  const START = Date.UTC(2026, 10, 30);

  it('list rows, newest first, with exactly the fields of the contract and some of ours', async () => {
    const llm = await get<Row[]>('llm');
    expect(llm).to.have.length(8);
    expect(Object.keys(llm[0] ?? {})).to.deep.equal(
      'id profileName provider model promptTokens completionTokens totalTokens costMicros success durationMs createdAt traceId outcome attempt'.split(
        ' ',
      ),
    );
    expect(llm[0]).to.include({
      profileName: 'a',
      provider: 'scripted',
      promptTokens: null,
      totalTokens: null,
      costMicros: null,
      success: true,
    });
    expect(llm[1]).to.include({ profileName: 'b', success: false, outcome: 'failed' });
    const tools = await get<Row[]>('tool');
    expect(Object.keys(tools[0] ?? {})).to.deep.equal('id profileName toolName success blockedBy durationMs createdAt traceId'.split(' '));
    for (const rows of [llm, tools]) expect(rows.map(({ id }) => id)).to.deep.equal(rows.map(({ id }) => id).sort((x, y) => y - x));
    expect(llm[0]?.['createdAt']).to.equal(at(clock.now()));
  });

  it('filter by the guard that refused', async () => {
    const refused = await get<Row[]>('tool?blockedBy=undeclared');
    expect(refused.map((row) => [row['toolName'], row['profileName'], row['blockedBy']])).to.deep.equal([
      ['current_time', 'b', 'undeclared'],
    ]);
    expect(await get('tool?blockedBy=policy')).to.deep.equal([]);
    expect(await get<Row[]>('tool?blockedBy=')).to.have.length(9);
  });

  it('clamp the limit and refuse what is no number', async () => {
    expect(await get<Row[]>('llm?limit=2')).to.have.length(2);
    expect(await get<Row[]>('tool?limit=0')).to.have.length(1);
    expect(await get<Row[]>('tool?limit=-7')).to.have.length(1);
    expect(await get<Row[]>('llm?limit=99999999999999999999')).to.have.length(8);
    for (const limit of ['abc', '', '1e999', 'NaN'])
      expect((await host.request('GET', `/api/v1/audit/llm?limit=${limit}`)).status).to.equal(400);
  });

  it('show the last 30 days, or the window that was asked for, its ends included', async () => {
    expect((await get<{ count: number }>('llm/summary')).count).to.equal(8);
    const early = `from=${at(START)}&to=${at(START)}`;
    expect((await get<{ count: number }>(`llm/summary?${early}`)).count).to.equal(2);
    expect(await get<Row[]>(`llm?${early}`)).to.have.length(2);
    expect(await get<Row[]>(`tool?${early}`)).to.have.length(3);
    expect(await get<Row[]>(`llm?from=${at(START + 1)}`)).to.have.length(6);
    expect(await get<Row[]>(`llm?to=${at(START + 1_000)}`)).to.have.length(4);
    expect(await get<Row[]>(`llm?from=${at(clock.now())}`)).to.have.length(1);
    expect(await get<Row[]>('llm?from=2026-11-30T01:00:00%2B01:00')).to.have.length(8);
    expect(await get(`llm/summary?from=${at(START - DAY_MS)}&to=${at(START - 1)}`)).to.deep.equal(EMPTY_LLM);
  });

  it('refuse what is no instant', async () => {
    const bad = ['yesterday', '2026-11-30', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '1764460800000', '2026-11-30T00:00:00', ''];
    for (const path of ['llm', 'tool', 'llm/summary', 'tool/summary', 'llm/by-model', 'llm/by-provider', 'tool/by-name', 'by-agent'])
      for (const text of bad)
        for (const name of ['from', 'to'])
          expect((await host.request('GET', `/api/v1/audit/${path}?${name}=${text}`)).status, `${path} ${name}=${text}`).to.equal(400);
  });

  it('add up exactly to the rows', async () => {
    const llm = await get<Row[]>('llm?limit=500');
    const tools = await get<Row[]>('tool?limit=500');
    const sum = (rows: readonly Row[], field: string): number =>
      rows.reduce((total, row) => total + ((row[field] as number | null) ?? 0), 0);
    const good = (rows: readonly Row[]): number => rows.filter(({ success }) => success).length;
    expect(await get('llm/summary')).to.deep.equal({
      count: llm.length,
      successCount: good(llm),
      successRate: good(llm) / llm.length,
      avgDurationMs: sum(llm, 'durationMs') / llm.length,
      totalPromptTokens: sum(llm, 'promptTokens'),
      totalCompletionTokens: sum(llm, 'completionTokens'),
      totalCostMicros: null,
    });
    expect(await get('tool/summary')).to.deep.equal({
      count: tools.length,
      successCount: good(tools),
      successRate: good(tools) / tools.length,
      avgDurationMs: sum(tools, 'durationMs') / tools.length,
    });
    const views: readonly (readonly [string, readonly Row[], string])[] = [
      ['llm/by-model', llm, 'model'],
      ['llm/by-provider', llm, 'provider'],
      ['by-agent', llm, 'profileName'],
      ['tool/by-name', tools, 'toolName'],
    ];
    for (const [path, rows, field] of views) {
      const groups = await get<Group[]>(path);
      for (const { key, count, successCount, totalCostMicros } of groups) {
        const own = rows.filter((row) => row[field] === key);
        expect([count, successCount, totalCostMicros], `${path} ${key}`).to.deep.equal([own.length, good(own), null]);
      }
      expect(groups.reduce((total, { count }) => total + count, 0)).to.equal(rows.length);
      expect(groups.map(({ count }) => count)).to.deep.equal(groups.map(({ count }) => count).sort((x, y) => y - x));
    }
    expect((await get<Group[]>('by-agent')).map(({ key }) => key)).to.deep.equal(['a', 'b']);
  });

  it('name rows without an agent, and sum up the costs that are known', async () => {
    const store = host.kernel.service('store');
    const columns = 'session_id, profile_name, provider, model, cost_micros, outcome, success, duration_ms, created_at';
    const sql = `INSERT INTO llm_calls (${columns}) VALUES ('old', NULL, 'p', 'm', ?, 'success', 1, 5, ?)`;
    const longAgo = START - 5 * DAY_MS;
    await store.write({ sql, params: [120, longAgo] }, { sql, params: [null, longAgo] });
    const window = `from=${at(longAgo)}&to=${at(longAgo)}`;
    expect(await get(`by-agent?${window}`)).to.deep.equal([{ key: '(unattributed)', count: 2, successCount: 2, totalCostMicros: 120 }]);
    expect(await get(`llm/summary?${window}`)).to.include({ totalCostMicros: 120, totalPromptTokens: null });
    expect((await get<Row[]>(`llm?${window}`))[0]).to.include({ profileName: null, traceId: null, attempt: null });
  });

  it('change nothing, and are there for GET only', async () => {
    for (const path of ['llm', 'tool', 'llm/summary', 'by-agent'])
      expect((await host.request('POST', `/api/v1/audit/${path}`, {})).status).to.equal(405);
  });
});
