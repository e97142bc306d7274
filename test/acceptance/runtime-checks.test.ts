/** What a model server, a tool and an operator see of runs, where no other test looks at all of it at once. */
import { expect } from 'chai';
import { agentFile, startHost, type TestHost } from '../harness/index.ts';
import { callsTools, type ModelServer, says, stalls, startModelServer, status } from '../harness/model-server.ts';
import { outsideOn, simulatedNetwork, type SimulatedNetwork } from '../plugins/outside/simulated-network.ts';
import { type Toolbox, toolbox } from '../plugins/tools/toolbox.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- messages and views of every shape
type View = any;

const withFallback = (name: string): string =>
  agentFile(name).replace('  model: test-model', '  model: test-model\n  fallback: [{name: second, model: other}]');

const agents = {
  t: agentFile('t', 'tools: [current_time]\nsettings: {max_iterations: 2, max_history_turns: 1}'),
  patient: agentFile('patient', 'tools: [current_time]'),
  f: agentFile('f', 'tools: [read_file, list_dir]\nsettings: {on_fatal_tool_error: feedback}'),
  r: agentFile('r', 'tools: [read_file]'),
  chain: withFallback('chain'),
  bad: 'no front matter',
  late: agentFile('late', 'tools: []\nsettings: {timeout_seconds: 1}'),
};

describe('a run on a model server', function () {
  this.timeout(30_000);
  let server: ModelServer;
  let second: ModelServer;
  let host: TestHost;
  before(async () => {
    server = await startModelServer();
    second = await startModelServer();
    host = await startHost({
      agents,
      modelUrl: server.baseUrl,
      config: {
        'oryxos.providers': [
          { name: 'scripted', baseUrl: server.baseUrl },
          { name: 'second', baseUrl: second.baseUrl },
        ],
      },
    });
  });
  after(async () => {
    await host.stop();
    await server.close();
    await second.close();
  });

  /** Says something, and what the model was asked meanwhile. */
  async function said(
    agent: string,
    content = 'hi',
    path = `/api/v1/agents/${agent}/invoke`,
  ): Promise<{ answer: View; asked: readonly View[] }> {
    const before = server.requests.length;
    const answer = await host.request('POST', path, { content });
    return { answer, asked: server.requests.slice(before).map(({ body }): View => body) };
  }
  const auditOf = async (traceId: string): Promise<readonly View[]> =>
    ((await host.request('GET', '/api/v1/audit/tool?limit=500')).data as View[]).filter((row) => row.traceId === traceId);

  it('offers the declared tools as functions with the schema of an object, and no others', async () => {
    const { asked } = await said('t');
    expect(asked).to.have.length(1);
    expect(asked[0].tools).to.have.length(1);
    expect(asked[0].tools[0]).to.containSubset({ type: 'function', function: { name: 'current_time', parameters: { type: 'object' } } });
    expect(asked[0].tools[0].function.description).to.be.a('string').and.not.equal('');
  });

  it('takes arguments that are an empty text for none', async () => {
    server.will(callsTools([{ name: 'current_time', arguments: '' }]), says('done'));
    const { answer, asked } = await said('t');
    expect(answer.data.reply).to.equal('done');
    expect(asked[1].messages.at(-1).content).to.match(/^\d{4}-\d{2}-\d{2} /);
    expect((await auditOf(answer.data.traceId))[0]).to.include({ toolName: 'current_time', success: true });
  });

  it('tells the model of arguments that are not JSON, goes on, and records a failure', async () => {
    server.will(callsTools([{ name: 'current_time', arguments: '{bad' }]), says('sorry'));
    const { answer, asked } = await said('t');
    expect(answer.data.reply).to.equal('sorry');
    expect(asked[1].messages.at(-1)).to.include({ role: 'tool' });
    expect(asked[1].messages.at(-1).content).to.match(/not valid JSON/i);
    expect((await auditOf(answer.data.traceId))[0]).to.include({ toolName: 'current_time', success: false });
  });

  it('gives a call without an id a fresh one, the same in call and result', async () => {
    server.will(callsTools([{ id: '', name: 'current_time' }]), says('done'));
    const { asked } = await said('t');
    const [call, result] = asked[1].messages.slice(-2);
    expect(call.tool_calls[0].id).to.be.a('string').and.not.equal('');
    expect(result.tool_call_id).to.equal(call.tool_calls[0].id);
  });

  it('stops at the limit of iterations after exactly so many requests, and keeps what was done', async () => {
    const zone = (timezone: string) => callsTools([{ name: 'current_time', arguments: { timezone } }], { content: `look at ${timezone}` });
    server.will(zone('UTC'), zone('Europe/Berlin'));
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'limit' });
    const { answer, asked } = await said('t', 'hi', '/api/v1/sessions/web:limit:t/messages');
    expect(answer.status).to.equal(200);
    expect(answer.data).to.include({ stopReason: 'max_iterations', reply: 'look at UTC\n\nlook at Europe/Berlin' });
    expect(asked).to.have.length(2);
    const { messages } = (await host.request('GET', '/api/v1/sessions/web:limit:t')).data;
    expect(messages.map(({ role }: View) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });

  it('ends a model that repeats a call with the same result at the third time', async () => {
    const same = callsTools([{ name: 'current_time', arguments: { timezone: 'Nowhere/Land' } }]);
    server.will(same, same, same);
    const { answer, asked } = await said('patient');
    expect(answer.data).to.include({ stopReason: 'loop' });
    expect(asked).to.have.length(3);
  });

  it('ends with 504 when its time is over, and tells a stream the same', async () => {
    server.will(stalls(), stalls());
    const { answer } = await said('late');
    expect(answer).to.include({ status: 504, code: 504, data: null });
    const { events } = await host.stream('/api/v1/agents/late/invoke', { content: 'hi' });
    expect(events.map(({ event }) => event)).to.deep.equal(['trace', 'error']);
    expect(events[1]?.data).to.include({ code: 504 });
  });

  it('takes an answer without a word for an answer', async () => {
    server.will(says('', { pieces: [] }));
    const { answer } = await said('t');
    expect([answer.status, answer.data.reply, answer.data.stopReason]).to.deep.equal([200, '', 'completed']);
  });

  it('sends one turn where the agent asks for one', async () => {
    await host.request('POST', '/api/v1/sessions', { profile: 't', userId: 'short' });
    const path = '/api/v1/sessions/web:short:t/messages';
    for (const content of ['one', 'two']) await said('t', content, path);
    const { asked } = await said('t', 'three', path);
    const users = asked[0].messages.filter(({ role }: View) => role === 'user');
    expect(users.map(({ content }: View) => content)).to.deep.equal(['three']);
  });

  it('ends with the last failure when every candidate fails, and keeps the message', async () => {
    server.will(status(503, { error: { message: 'first is down' } }));
    second.will(status(500, { error: { message: 'second is down' } }));
    await host.request('POST', '/api/v1/sessions', { profile: 'chain' });
    const { answer } = await said('chain', 'keep me', '/api/v1/sessions/web:default:chain/messages');
    expect(answer).to.include({ status: 503, code: 503, data: null });
    expect(answer.message).to.include('second').and.not.include('first is down');
    const { messages } = (await host.request('GET', '/api/v1/sessions/web:default:chain')).data;
    expect(messages.map(({ content }: View) => content)).to.deep.equal(['keep me']);
  });

  it('is refused as JSON before its stream when the agent is unknown or broken', async () => {
    for (const [agent, code] of [
      ['nobody', 404],
      ['bad', 409],
    ] as const) {
      const answer = await host.stream(`/api/v1/agents/${agent}/invoke`, { content: 'hi' }, { accept: 'text/event-stream' });
      expect([answer.status, answer.code, answer.data, answer.events]).to.deep.equal([code, code, null, []]);
      expect(answer.headers['content-type']).to.match(/^application\/json/);
    }
  });

  it('ends with 422, or goes on where the agent says so, when a file outside is read, and records who refused', async () => {
    for (const path of ['/etc/passwd', `${host.root}/../x`]) {
      const call = callsTools([{ name: 'read_file', arguments: { path } }]);
      server.will(call);
      const refused = await said('r');
      expect(refused.answer).to.include({ status: 422, data: null });
      expect(refused.answer.message).to.include('whitelist');
      expect((await auditOf(refused.answer.headers['x-trace-id']))[0]).to.include({ success: false, blockedBy: 'sandbox' });

      server.will(call, says('I see'));
      const { answer, asked } = await said('f');
      expect(answer.data.reply).to.equal('I see');
      expect(asked[1].messages.at(-1).content).to.include('whitelist');
      expect((await auditOf(answer.data.traceId))[0]).to.include({ success: false, blockedBy: 'sandbox' });
    }
  });
});

describe('the whitelist of hosts', function () {
  this.timeout(30_000);
  const PUBLIC = ['93.184.215.14'];
  const dns = { 'news.test': PUBLIC, 'example.test': PUBLIC, 'a.example.test': PUBLIC, 'evil-example.test': PUBLIC };
  let net: SimulatedNetwork;
  beforeEach(async () => {
    net = await simulatedNetwork({ dns, serve: (_, response) => void response.end('served') });
  });
  afterEach(() => net[Symbol.asyncDispose]());
  const boxWith = async (config: Readonly<Record<string, unknown>>): Promise<Toolbox> => {
    const box = await toolbox({ config });
    await box.host.kernel.replace(outsideOn(net.network));
    return box;
  };
  const change = (box: Toolbox, method: string, value: string) =>
    method === 'POST'
      ? box.host.request('POST', '/api/v1/sandbox/whitelist/HTTP', { value })
      : box.host.request('DELETE', `/api/v1/sandbox/whitelist/http?value=${encodeURIComponent(value)}`);
  const url = 'http://news.test/';

  it('keeps reads and writes from hosts that are not on it, which then see nothing; an entry counts from the next call on', async () => {
    await using box = await boxWith({ 'http.allowed_domains': [] });
    for (const [tool, args] of [
      ['http_get', { url }],
      ['http_post', { url, body: '{}' }],
      ['http_request', { url, method: 'DELETE' }],
      ['fetch_webpage', { url }],
      ['download_file', { url, path: 'x.txt' }],
    ] as const) {
      expect(await box.failure(tool, args), tool).to.include({ blockedBy: 'sandbox', retryable: false });
    }
    expect([net.lookups, net.dials, net.requests]).to.deep.equal([[], [], []]);

    expect((await change(box, 'POST', 'news.test')).data).to.deep.include({ category: 'http', value: 'news.test', changed: true });
    expect(await box.text('http_get', { url })).to.include('served');
    expect(await box.text('http_post', { url, body: '{}' })).to.include('served');
    expect(net.requests.map(({ method }) => method)).to.deep.equal(['GET', 'POST']);

    await change(box, 'DELETE', 'news.test');
    expect(await box.failure('http_get', { url })).to.include({ blockedBy: 'sandbox' });
    expect(net.requests).to.have.length(2);
  });

  it('covers names below a wildcard, and neither the name itself nor one that only ends alike', async () => {
    await using box = await boxWith({ 'http.allowed_domains': ['*.example.test'] });
    expect(await box.text('http_get', { url: 'http://a.example.test/' })).to.include('served');
    for (const host of ['example.test', 'evil-example.test']) {
      expect(await box.failure('http_get', { url: `http://${host}/` }), host).to.include({ blockedBy: 'sandbox' });
    }
    expect(net.requests.map(({ host }) => host)).to.deep.equal(['a.example.test']);
  });

  it('is for writes only with http.read_policy: public', async () => {
    await using box = await boxWith({ 'http.allowed_domains': [], 'http.read_policy': 'public' });
    expect(await box.text('http_get', { url })).to.include('served');
    expect(await box.text('http_request', { url, method: 'GET' })).to.include('served');
    expect(await box.failure('http_post', { url, body: '{}' })).to.include({ blockedBy: 'sandbox' });
    expect(await box.failure('http_request', { url, method: 'PUT', body: 'x' })).to.include({ blockedBy: 'sandbox' });
    expect(net.requests.map(({ method }) => method)).to.deep.equal(['GET', 'GET']);
  });
});
