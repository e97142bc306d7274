import { expect } from 'chai';
import { agentFile, startHost, until } from '../../harness/index.ts';
import type { Answer, TestHost } from '../../harness/index.ts';
import { documentOf, mismatch, contentOf, operationsOf, undocumented } from './documented.ts';
import type { ApiDocument, Operation } from './documented.ts';
import { exampleOf } from '../../../plugins/openapi/example.ts';

const SESSION = 'web:ann:helper';

/** What stands in a path, by the name of the parameter or by the beginning of the path and that name. */
const VALUES: Readonly<Record<string, string>> = {
  '/api/v1/agents {name}': 'helper',
  '/api/v1/providers {name}': 'scripted',
  '/api/v1/sessions {id}': SESSION,
};

describe('a walk over the API', function () {
  this.timeout(20_000);
  let host: TestHost;
  let document: ApiDocument;
  let operations: ReadonlyMap<string, Operation>;
  const walked = new Map<string, number[]>();
  const wrong: string[] = [];

  before(async () => {
    host = await startHost({
      agents: {
        helper: agentFile('helper', 'description: Helps\ntools: [current_time]'),
        broken: '---\nname: [\n---\n',
      },
    });
    document = await documentOf(host);
    operations = operationsOf(document);
  });
  after(() => host.stop());

  function hold(name: string, answer: Answer): Answer {
    const operation = operations.get(name);
    const problem = operation === undefined ? 'it is not documented' : undocumented(document, operation, answer);
    if (problem !== undefined) wrong.push(`${name} (${answer.status}): ${problem}`);
    walked.set(name, [...(walked.get(name) ?? []), answer.status]);
    return answer;
  }

  /** Asks an operation; `{name}` in `name` is filled from `params`, the last text with a query is added. */
  async function ask(name: string, params: Readonly<Record<string, string>> = {}, body?: unknown, query = ''): Promise<Answer> {
    const [method = '', template = ''] = name.split(' ');
    const path = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? 'nothing-here'));
    return hold(name, await host.request(method, path + query, body));
  }

  const expectStatus = async (status: number, ...call: Parameters<typeof ask>): Promise<Answer> => {
    const answer = await ask(...call);
    expect(answer.status, `${call[0]}: ${answer.text.slice(0, 300)}`).to.equal(status);
    return answer;
  };

  it('finds the main writes as documented', async () => {
    const name = 'helper';
    await expectStatus(200, 'POST /api/v1/agents', {}, { name: 'made', description: 'by the walk', provider: 'scripted', model: 'm' });
    await expectStatus(400, 'POST /api/v1/agents', {}, { name: '../x' });
    const markdown = agentFile('made', 'tools: []\nschedules:\n  - {key: daily, name: Daily, cron: "0 0 9 * * *", message: hi}');
    await expectStatus(200, 'PUT /api/v1/agents/{name}', { name: 'made' }, { agentMarkdown: markdown });
    await expectStatus(200, 'PUT /api/v1/agents/{name}/basic', { name: 'made' }, { description: 'again' });
    await expectStatus(200, 'POST /api/v1/agents/{name}/files', { name: 'made' }, { files: { 'AGENT.md': markdown, 'notes.md': 'n' } });
    await expectStatus(404, 'PUT /api/v1/agents/{name}', {}, { agentMarkdown: markdown });
    const plain = await host.request('PUT', '/api/v1/agents/made', 'hello', { 'content-type': 'text/plain' });
    expect(hold('PUT /api/v1/agents/{name}', plain).status).to.equal(415);
    await expectStatus(200, 'POST /api/v1/sessions', {}, { profile: name, userId: 'ann' });
    await expectStatus(404, 'POST /api/v1/sessions', {}, { profile: 'nobody' });
    host.model.willCall('current_time', { timezone: 'UTC' });
    host.model.willSay('It is late.');
    await expectStatus(200, 'POST /api/v1/sessions/{id}/messages', { id: SESSION }, { content: 'the time?' });
    await expectStatus(200, 'POST /api/v1/agents/{name}/invoke', { name }, { content: 'hi' });
    await expectStatus(200, 'POST /api/v1/agents/{name}/session/messages', { name }, { content: 'hi' });
    await expectStatus(409, 'POST /api/v1/agents/{name}/invoke', { name: 'broken' }, { content: 'hi' });
    host.model.willFail({ message: 'no power' });
    await expectStatus(503, 'POST /api/v1/agents/{name}/invoke', { name }, { content: 'hi' });
    await expectStatus(200, 'POST /api/v1/providers', {}, { name: 'p1', baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-123456789' });
    await expectStatus(200, 'PUT /api/v1/providers/{name}', { name: 'p1' }, { description: 'changed' });
    await expectStatus(200, 'POST /api/v1/providers/{name}/test', { name: 'scripted' });
    await expectStatus(200, 'POST /api/v1/sandbox/whitelist/{category}', { category: 'shell' }, { value: 'date' });
    await expectStatus(200, 'DELETE /api/v1/sandbox/whitelist/{category}', { category: 'shell' }, undefined, '?value=date');
    await expectStatus(400, 'DELETE /api/v1/sandbox/whitelist/{category}', { category: 'shell' });
    await expectStatus(404, 'POST /api/v1/asks/{askId}', {}, { answer: 'yes' });
  });

  it('finds an event stream that ends with what is documented', async () => {
    const path = '/api/v1/agents/helper/invoke';
    const { events, headers } = await host.stream(path, { content: 'hi' });
    expect(headers['content-type']).to.match(/^text\/event-stream/);
    const schema = contentOf(operations.get('POST /api/v1/agents/{name}/invoke') ?? expect.fail())['application/json']?.schema;
    const done = events.at(-1)?.data as unknown;
    expect(mismatch(schema ?? {}, { code: 0, message: 'success', data: done, timestamp: 1 })).to.equal(undefined);
    expect(headers).to.have.property('x-trace-id');
  });

  it('finds a run in progress and stops it as documented', async () => {
    let finish: () => void = () => {};
    host.model.will({ after: new Promise<void>((resolve) => (finish = resolve)) });
    const running = host.request('POST', '/api/v1/agents/helper/invoke', { content: 'take your time' });
    const run = await until('the run', async () => ((await ask('GET /api/v1/runs')).data as readonly { traceId: string }[])[0]);
    await expectStatus(200, 'DELETE /api/v1/runs/{traceId}', { traceId: run.traceId });
    finish();
    hold('POST /api/v1/agents/{name}/invoke', await running);
    await expectStatus(404, 'DELETE /api/v1/runs/{traceId}');
  });

  it('finds everything that can be read as documented, also where nothing is', async () => {
    for (const [name, { parameters = [] }] of operations) {
      if (!name.startsWith('GET ')) continue;
      const path = name.slice(4);
      const value = (param: string): string => VALUES[`${/^\/api\/v\d+\/\w+/.exec(path)?.[0]} {${param}}`] ?? 'nothing-here';
      const params = Object.fromEntries(
        parameters.filter(({ in: place }) => place === 'path').map((param) => [param.name, value(param.name)]),
      );
      const query = parameters
        .filter(({ in: place, required }) => place === 'query' && required)
        .map((param) => `${param.name}=${encodeURIComponent(String(exampleOf(param.schema, param.name)))}`);
      const answer = await ask(name, params, undefined, query.length > 0 ? `?${query.join('&')}` : '');
      expect(answer.status, `${name}: ${answer.text.slice(0, 200)}`).to.not.equal(500);
      if (Object.keys(params).length > 0) await ask(name, {}, undefined, query.length > 0 ? `?${query.join('&')}` : '');
    }
  });

  it('finds the ends as documented', async () => {
    await expectStatus(200, 'DELETE /api/v1/providers/{name}', { name: 'p1' });
    await expectStatus(404, 'DELETE /api/v1/providers/{name}', { name: 'p1' });
    await expectStatus(200, 'DELETE /api/v1/sessions/{id}', { id: SESSION });
    await expectStatus(200, 'DELETE /api/v1/agents/{name}', { name: 'made' });
    await expectStatus(404, 'DELETE /api/v1/agents/{name}', { name: 'made' });
  });

  it('has seen no answer that the document does not describe', () => {
    expect(wrong).to.deep.equal([]);
    const unread = [...operations.keys()].filter((name) => name.startsWith('GET ') && !walked.has(name));
    expect(unread).to.deep.equal([]);
  });
});
