/** What an operator can rule out and prove later, as a client of the API sees it. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { send } from '../harness/http-client.ts';
import { agentFile, startHost, type TestHost, until } from '../harness/index.ts';

interface Step {
  readonly seq: number;
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Timeline {
  readonly found: boolean;
  readonly steps: readonly Step[];
  readonly summary: Readonly<Record<string, number | null>>;
}

const mockAgent = (name: string): string =>
  `---\nname: ${name}\ndescription: d\nprovider: {name: mock, model: mock}\ntools: [save_memory, recall_memory]\n---\n\nBody.\n`;

describe('safety, on the built-in mock model', function () {
  this.timeout(20_000);
  let host: TestHost;
  beforeEach(async () => {
    const agents = { a1: mockAgent('a1'), a2: mockAgent('a2'), s: agentFile('s', 'tools: [save_memory, json_extract]') };
    host = await startHost({ agents });
  });
  afterEach(() => host.stop());

  const invoke = async (agent: string, content: string) => host.request('POST', `/api/v1/agents/${agent}/invoke`, { content });
  const get = async <T>(path: string): Promise<T> => (await host.request('GET', path)).data as T;
  const timeline = (traceId: string): Promise<Timeline> => get(`/api/v1/audit/trace/${traceId}`);

  it('"remember" is two model calls and one save_memory in the audit, and a line in the memory; "hello" is one model call', async () => {
    const { data } = await invoke('a1', '记住 X marks the spot');
    expect(await get<unknown[]>('/api/v1/audit/llm')).to.have.length(2);
    const tools = await get<Step[]>('/api/v1/audit/tool');
    expect(tools).to.have.length(1);
    expect(tools[0]).to.include({ toolName: 'save_memory', success: true, blockedBy: null, profileName: 'a1' });
    expect(await readFile(join(host.root, 'agents/a1/MEMORY.md'), 'utf8')).to.match(
      /## Archival memory[\s\S]*\[[^\]]+\].*X marks the spot/,
    );

    const { steps, summary, found } = await timeline((data as { traceId: string }).traceId);
    expect(found).to.equal(true);
    expect(steps.map(({ seq, type }) => `${seq} ${type}`)).to.deep.equal(['1 LLM', '2 TOOL', '3 LLM']);
    expect(summary).to.include({ steps: 3, llmCalls: 2, toolCalls: 1 });
    await invoke('a1', 'hello');
    expect(await get<unknown[]>('/api/v1/audit/llm')).to.have.length(3);
    expect(await get<unknown[]>('/api/v1/audit/tool')).to.have.length(1);
  });

  it('a global denial of save_memory shows in the effective view, and the mock answers without it; exemption and denial of one agent count', async () => {
    const add = async (rule: object) => (await host.request('POST', '/api/v1/tool-policy/rules', rule)).status;
    const removed = async (agent: string) => {
      const { effective } = await get<{ effective: { agentName: string; removed: { toolName: string }[] }[] }>('/api/v1/tool-policy');
      return effective.find(({ agentName }) => agentName === agent)?.removed.map(({ toolName }) => toolName);
    };
    const saves = async (agent: string): Promise<boolean> => {
      const before = (await get<unknown[]>('/api/v1/audit/tool')).length;
      expect((await invoke(agent, 'remember: X')).status).to.equal(200);
      return (await get<unknown[]>('/api/v1/audit/tool')).length > before;
    };
    expect(await add({ ruleType: 'GLOBAL_DENY', pattern: 'save_memory' })).to.equal(200);
    expect(await removed('a1')).to.deep.equal(['save_memory']);
    expect(await saves('a1')).to.equal(false);

    expect(await add({ ruleType: 'AGENT_EXEMPT', agentName: 'a1', pattern: 'save_memory' })).to.equal(200);
    expect([await removed('a1'), await removed('a2')]).to.deep.equal([[], ['save_memory']]);
    expect([await saves('a1'), await saves('a2')]).to.deep.equal([true, false]);

    expect(await add({ ruleType: 'AGENT_DENY', agentName: 'a1', pattern: 'save_memory' })).to.equal(200);
    expect(await saves('a1')).to.equal(false);
  });

  it('a model that calls a denied tool all the same gets 422, and a blocked step', async () => {
    await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'GLOBAL_DENY', pattern: 'save_memory' });
    host.model.willCall('save_memory', { content: 'X' });
    const answer = await invoke('s', 'go');
    expect([answer.status, answer.code, answer.data]).to.deep.equal([422, 422, null]);
    const blocked = await get<{ traceId: string }[]>('/api/v1/audit/tool?blockedBy=policy');
    expect(blocked).to.have.length(1);
    expect(answer.headers['x-trace-id']).to.equal(blocked[0]?.traceId);
    const { steps } = await timeline(blocked[0]?.traceId ?? '');
    expect(steps[1]).to.include({ type: 'TOOL', name: 'save_memory', success: false, blockedBy: 'policy', resultSummary: null });
    expect(steps[1]?.['errorMessage']).to.match(/denied by global rule #1 \(save_memory\)/);
  });

  it('a key in the input of a tool shows as sk-a**** in the timeline; the row keeps it', async () => {
    host.model.willCall('save_memory', { content: 'my key is sk-abcdefghijklmnop' });
    const { data } = await invoke('s', 'go');
    const { steps } = await timeline((data as { traceId: string }).traceId);
    expect(steps[1]?.['inputSummary']).to.equal('{"content":"my key is sk-a****"}');
    expect((await host.rows('tool_invocations'))[0]).to.include({ input_json: '{"content":"my key is sk-abcdefghijklmnop"}' });
  });

  it('arguments that are not valid JSON, and tools that do not exist, are told to the model and recorded', async () => {
    host.model.will({ calls: [{ name: 'save_memory', arguments: '{bad' }, { name: 'rm_rf' }] });
    host.model.willSay('I see');
    expect((await invoke('s', 'go')).data).to.include({ reply: 'I see' });
    const rows = await get<Step[]>('/api/v1/audit/tool');
    expect(rows.map((row) => `${String(row['toolName'])} ${String(row['success'])}`).sort()).to.deep.equal([
      'rm_rf false',
      'save_memory false',
    ]);
  });

  it('a client that cuts its stream changes nothing: the whole run is in the history, and its model calls in the audit', async () => {
    await host.request('POST', '/api/v1/sessions', { profile: 's' });
    let proceed = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    host.model.will({ calls: [{ name: 'json_extract', arguments: { json: '{}', path: '' } }], after: gate });
    host.model.willSay('all of it');
    const path = '/api/v1/sessions/web:default:s/messages';
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const stream = await send(host.url, 'POST', path, JSON.stringify({ content: 'go' }), headers);
    stream.destroy();
    proceed();
    await until('the run to end', async () => (await get<unknown[]>('/api/v1/runs')).length === 0 && host.model.requests.length === 2);
    const { messages } = await get<{ messages: { role: string }[] }>('/api/v1/sessions/web:default:s');
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant']);
    expect(await get<unknown[]>('/api/v1/audit/llm')).to.have.length(2);
  });
});
