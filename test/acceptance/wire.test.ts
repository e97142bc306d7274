/** What a client of the REST API sees, on the built-in mock model. */
import { expect } from 'chai';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, send } from '../harness/http-client.ts';
import { eventsFrom, startHost, type TestHost, until } from '../harness/index.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const mockAgent = (name: string, description = 'd'): string =>
  `---\n# kept\nname: ${name}\ndescription: ${description}\nprovider: {name: mock, model: mock}\ntools: [save_memory, recall_memory]\n---\n\nBody of ${name}.\n`;

function expectError(answer: Answer, status: number, message?: RegExp): void {
  expect({ status: answer.status, code: answer.code, data: answer.data as unknown }).to.deep.equal({ status, code: status, data: null });
  expect(answer.headers['content-type']).to.match(/application\/json/);
  if (message) expect(answer.message).to.match(message);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('the wire', () => {
  let host: TestHost;
  before(async () => {
    host = await startHost({ agents: { a1: mockAgent('a1'), b2: mockAgent('b2') }, modelUrl: 'http://127.0.0.1:9/v1' });
  });
  after(() => host.stop());

  describe('envelope', () => {
    it('wraps every answer', async () => {
      const { status, text } = await host.request('GET', '/api/v1/health');
      expect(status).to.equal(200);
      const body = JSON.parse(text) as Record<string, unknown>;
      expect(body).to.deep.include({ code: 0, message: 'success', data: { status: 'ok' } });
      expect(body['timestamp']).to.be.a('number');
    });

    it('answers an unknown path with 404 and a wrong method with 405', async () => {
      expectError(await host.request('GET', '/api/v1/nope'), 404);
      expectError(await host.request('DELETE', '/api/v1/health'), 405);
    });

    it('refuses foreign hosts and origins and changes nothing', async () => {
      const body = { name: 'evil' };
      expectError(await host.request('POST', '/api/v1/agents', body, { host: 'evil.example' }), 403);
      expectError(await host.request('POST', '/api/v1/agents', body, { origin: 'http://evil.example' }), 403);
      expectError(await host.request('GET', '/api/v1/agents/evil'), 404);
    });

    it('refuses a write that is not JSON with 415', async () => {
      expectError(await host.request('POST', '/api/v1/agents', '{"name":"x"}', { 'content-type': 'text/plain' }), 415);
    });
  });

  describe('bad input is never a 500 and changes nothing', () => {
    const bodies: readonly unknown[] = [
      '{',
      '[]',
      '"text"',
      'null',
      '{"content":1}',
      { content: null },
      { content: '' },
      { content: '   ' },
      {},
    ];
    for (const body of bodies) {
      it(`a message ${typeof body === 'string' ? body : JSON.stringify(body)}`, async () => {
        expectError(await host.request('POST', '/api/v1/agents/a1/invoke', body), 400);
      });
    }

    it('a message that is too long, and a body that is too large', async () => {
      expectError(await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x'.repeat(32_769) }), 400, /content/);
      expect((await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x'.repeat(32_768) })).status).to.equal(200);
      expectError(await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x'.repeat(1_100_000) }), 413);
    });

    it('percent-encoding that is none', async () => {
      expectError(await host.request('GET', '/api/v1/agents/%E0%A4%A'), 400);
    });

    for (const [method, path, body] of [
      ['GET', '/api/v1/agents/none', undefined],
      ['PUT', '/api/v1/agents/none', { agentMarkdown: 'x' }],
      ['DELETE', '/api/v1/agents/none', undefined],
      ['POST', '/api/v1/agents/none/invoke', { content: 'x' }],
      ['GET', '/api/v1/agents/none/memory', undefined],
      ['GET', '/api/v1/agents/none/session', undefined],
      ['POST', '/api/v1/agents/none/session/messages', { content: 'x' }],
      ['GET', '/api/v1/sessions/none', undefined],
      ['DELETE', '/api/v1/sessions/none', undefined],
      ['POST', '/api/v1/sessions/none/messages', { content: 'x' }],
      ['GET', '/api/v1/providers/none', undefined],
      ['PUT', '/api/v1/providers/none', { baseUrl: 'http://x.example' }],
      ['DELETE', '/api/v1/providers/none', undefined],
      ['GET', '/api/v1/providers/none/models', undefined],
      ['DELETE', '/api/v1/runs/none', undefined],
      ['POST', '/api/v1/asks/none', { answer: 'x' }],
    ] as const) {
      it(`${method} ${path} is 404`, async () => {
        expectError(await host.request(method, path, body), 404);
      });
    }
  });

  describe('agents', () => {
    it('are created with a scaffold, listed, and not created twice', async () => {
      const { status, data } = await host.request('POST', '/api/v1/agents', {
        name: 'new1',
        description: 'two\nlines: yes',
        provider: 'mock',
        model: 'mock',
      });
      expect(status).to.equal(200);
      expect(data).to.deep.include({ name: 'new1', status: 'ok', provider: 'mock', error: null });
      for (const file of ['AGENT.md', 'scripts/example.py', 'REFERENCE.md', 'output/README.md']) {
        expect(await exists(join(host.root, 'agents/new1', file)), file).to.equal(true);
      }
      const list = (await host.request('GET', '/api/v1/agents')).data as { name: string }[];
      expect(list.map(({ name }) => name)).to.deep.equal(list.map(({ name }) => name).sort());
      expect(list.some(({ name }) => name === 'new1')).to.equal(true);
      expectError(await host.request('POST', '/api/v1/agents', { name: 'new1' }), 400);
    });

    for (const name of ['../x', 'a b', '', 'a/b', '.hidden', 'x'.repeat(65)]) {
      it(`are not created under the name ${JSON.stringify(name.slice(0, 12))}`, async () => {
        const before = await readdir(join(host.root, 'agents'));
        expectError(await host.request('POST', '/api/v1/agents', { name }), 400);
        expect(await readdir(join(host.root, 'agents'))).to.deep.equal(before);
      });
    }

    it('are not created for a provider that does not exist, and leave nothing behind', async () => {
      expectError(await host.request('POST', '/api/v1/agents', { name: 'np', provider: 'nowhere', model: 'm' }), 400, /nowhere/);
      expect(await exists(join(host.root, 'agents/np'))).to.equal(false);
    });

    it('never touch a directory that was there before', async () => {
      await mkdir(join(host.root, 'agents/z'), { recursive: true });
      await writeFile(join(host.root, 'agents/z/keep.txt'), 'keep');
      await writeFile(join(host.root, 'agents/z/AGENT.md'), 'no front matter');
      expectError(await host.request('POST', '/api/v1/agents', { name: 'z' }), 400);
      expect(await readFile(join(host.root, 'agents/z/keep.txt'), 'utf8')).to.equal('keep');
      const broken = await until('z to be listed', async () =>
        ((await host.request('GET', '/api/v1/agents')).data as { name: string; status: string }[]).find((agent) => agent.name === 'z'),
      );
      expect(broken.status).to.equal('broken');
      expectError(await host.request('POST', '/api/v1/agents/z/invoke', { content: 'hi' }), 409, /AGENT\.md/);
      await rm(join(host.root, 'agents/z'), { recursive: true });
    });

    it('keep everything but what a basic edit changes', async () => {
      const { data } = await host.request('PUT', '/api/v1/agents/b2/basic', { description: 'd2' });
      expect(data).to.deep.include({ description: 'd2', tools: ['save_memory', 'recall_memory'] });
      const text = await readFile(join(host.root, 'agents/b2/AGENT.md'), 'utf8');
      expect(text).to.equal(mockAgent('b2', 'd2'));
    });

    it('are not changed by an invalid save, which names line and column', async () => {
      const before = await readFile(join(host.root, 'agents/b2/AGENT.md'), 'utf8');
      expectError(await host.request('PUT', '/api/v1/agents/b2', {}), 400, /agentMarkdown/);
      expectError(
        await host.request('PUT', '/api/v1/agents/b2', { agentMarkdown: '---\nname: b2\nprovider: [\n---\nx' }),
        400,
        /line|:\d+/,
      );
      expectError(await host.request('PUT', '/api/v1/agents/b2', { agentMarkdown: mockAgent('other') }), 400, /name/);
      expect(await readFile(join(host.root, 'agents/b2/AGENT.md'), 'utf8')).to.equal(before);
      expect((await host.request('GET', '/api/v1/agents/b2')).data).to.include({ status: 'ok' });
    });

    it('are there at every moment of fifty saves', async () => {
      let saving = true;
      const misses: number[] = [];
      const polling = (async () => {
        while (saving) misses.push((await host.request('GET', '/api/v1/agents/b2')).status);
      })();
      for (let save = 0; save < 50; save += 1) {
        const { status } = await host.request('PUT', '/api/v1/agents/b2', { agentMarkdown: mockAgent('b2', `save ${save}`) });
        expect(status).to.equal(200);
      }
      saving = false;
      await polling;
      expect(misses.filter((status) => status !== 200)).to.deep.equal([]);
      expect(misses.length).to.be.greaterThan(5);
    });

    it('come and go with their directory', async () => {
      await host.write('agents/hand/AGENT.md', mockAgent('hand'));
      await until('the agent', async () => (await host.request('GET', '/api/v1/agents/hand')).status === 200);
      await rm(join(host.root, 'agents/hand'), { recursive: true });
      await until('its end', async () => (await host.request('GET', '/api/v1/agents/hand')).status === 404);
    });

    it('are archived when they are deleted, with their sessions, also twice', async () => {
      for (const round of [1, 2]) {
        await host.request('POST', '/api/v1/agents', { name: 'gone', provider: 'mock', model: 'mock' });
        await host.request('POST', '/api/v1/sessions', { profile: 'gone', userId: `u${round}` });
        expect(await host.request('DELETE', '/api/v1/agents/gone')).to.include({ status: 200, data: null });
      }
      const archive = await readdir(join(host.root, 'archive'));
      expect(archive.filter((name) => name === 'gone' || /^gone-\d+/.test(name))).to.have.length(2);
      const archived = (await host.request('GET', '/api/v1/sessions?status=archived')).data as { sessionId: string }[];
      expect(archived.map(({ sessionId }) => sessionId)).to.include.members(['web:u1:gone', 'web:u2:gone']);
    });
  });

  describe('messages', () => {
    it('run without a session on invoke', async () => {
      const stats = (await host.request('GET', '/api/v1/sessions/stats')).data as unknown;
      const answer = await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'hi' });
      expect(answer.data).to.include({ stopReason: 'completed' });
      expect((answer.data as { traceId: string }).traceId).to.match(UUID);
      expect(answer.headers['x-trace-id']).to.equal((answer.data as { traceId: string }).traceId);
      expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.equal(stats);
    });

    it('go to one session per channel, user and agent', async () => {
      const first = await host.request('POST', '/api/v1/sessions', { profile: 'a1' });
      expect(first.data).to.deep.equal({ sessionId: 'web:default:a1' });
      expect((await host.request('POST', '/api/v1/sessions', { profile: 'a1' })).data).to.deep.equal(first.data);
      expectError(await host.request('POST', '/api/v1/sessions', {}), 400);
      expectError(await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'a:b' }), 400);
      expectError(await host.request('POST', '/api/v1/sessions', { profile: 'unknown' }), 404);
    });

    it('leave user, call, result and answer in the history, in order', async () => {
      await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'mem' });
      const { status } = await host.request('POST', '/api/v1/sessions/web:mem:a1/messages', { content: 'remember: X' });
      expect(status).to.equal(200);
      const { data } = await host.request('GET', '/api/v1/sessions/web:mem:a1');
      const messages = (data as { messages: { role: string; toolCallId: string | null; toolCalls: { id: string }[] }[] }).messages;
      expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant']);
      expect(messages[2]?.toolCallId).to.equal(messages[1]?.toolCalls[0]?.id);
      expect(messages[0]).to.deep.equal({ role: 'user', content: 'remember: X', toolName: null, toolCallId: null, toolCalls: [] });
      expect((await host.request('GET', '/api/v1/agents/a1/memory')).data).to.match(/## Archival memory\n- \[.*\] remember: X/);
    });

    it('twenty at once become twenty whole turns', async () => {
      await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'many' });
      const contents = Array.from({ length: 20 }, (_, index) => `message ${index}`);
      const answers = await Promise.all(
        contents.map((content) => host.request('POST', '/api/v1/sessions/web:many:a1/messages', { content })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(contents.map(() => 200));
      const { data } = await host.request('GET', '/api/v1/sessions/web:many:a1');
      const messages = (data as { messages: { role: string; content: string }[] }).messages;
      const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      expect([...said].sort()).to.deep.equal([...contents].sort());
      said.forEach((content, index) => expect(messages[index * 2 + 1]?.content).to.include(`"${content}"`));
    });

    it('can be archived and come back with the next message', async () => {
      await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'arch' });
      const stats = (await host.request('GET', '/api/v1/sessions/stats')).data as { active: number; archived: number };
      expect((await host.request('DELETE', '/api/v1/sessions/web:arch:a1')).data).to.deep.equal({ archived: true });
      const ids = async (status: string): Promise<string[]> =>
        ((await host.request('GET', `/api/v1/sessions?status=${status}`)).data as { sessionId: string }[]).map(
          ({ sessionId }) => sessionId,
        );
      expect(await ids('active')).to.not.include('web:arch:a1');
      expect(await ids('archived')).to.include('web:arch:a1');
      expect((await host.request('GET', '/api/v1/sessions/stats')).data).to.deep.include({
        active: stats.active - 1,
        archived: stats.archived + 1,
      });
      await host.request('POST', '/api/v1/sessions/web:arch:a1/messages', { content: 'again' });
      expect(await ids('active')).to.include('web:arch:a1');
      expectError(await host.request('GET', '/api/v1/sessions?status=odd'), 400);
    });

    it('have a console session', async () => {
      expect((await host.request('GET', '/api/v1/agents/a1/session')).data).to.deep.include({
        sessionId: 'admin:console:a1',
        profileName: 'a1',
      });
      await host.request('POST', '/api/v1/agents/a1/session/messages', { content: 'hi' });
      const { data } = await host.request('GET', '/api/v1/agents/a1/session');
      expect((data as { messages: unknown[] }).messages).to.have.length(2);
    });
  });

  describe('streams', () => {
    it('begin with the trace, concatenate to the reply and end with one terminal event', async () => {
      const { status, headers, events } = await host.stream('/api/v1/agents/a1/invoke', { content: 'remember: tea' });
      expect(status).to.equal(200);
      expect(headers['content-type']).to.match(/^text\/event-stream/);
      expect(headers).to.deep.include({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
      expect(events[0]?.event).to.equal('trace');
      const done = events.at(-1);
      expect(done?.event).to.equal('done');
      const text = events.flatMap((event) => (event.event === 'token' ? [(event.data as { delta: string }).delta] : [])).join('');
      expect(text).to.equal(done?.data.reply);
      expect(events.filter(({ event }) => event.startsWith('tool_')).map(({ event, data }) => [event, data])).to.deep.equal([
        ['tool_start', { name: 'save_memory' }],
        ['tool_end', { name: 'save_memory', success: true }],
      ]);
      const ids = events.map(({ id }) => Number(id));
      expect(ids).to.deep.equal([...ids].sort((a, b) => a - b));
    });

    it('that cannot begin are plain JSON errors', async () => {
      const answer = await host.stream('/api/v1/sessions/none/messages', { content: 'hi' });
      expectError(answer, 404);
      expect(answer.events).to.deep.equal([]);
    });

    it('go on without their client', async () => {
      await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'cut' });
      const response = await send(host.url, 'POST', '/api/v1/sessions/web:cut:a1/messages', '{"content":"remember: cut"}', {
        'content-type': 'application/json',
        accept: 'text/event-stream',
      });
      response.destroy();
      const messages = await until('the whole run', async () => {
        const { data } = await host.request('GET', '/api/v1/sessions/web:cut:a1');
        const all = (data as { messages: unknown[] }).messages;
        return all.length === 4 ? all : undefined;
      });
      expect(messages).to.have.length(4);
    });

    it('replay a run for the same idempotency key and refuse the key for another body', async () => {
      const key = { 'idempotency-key': 'k-1' };
      const first = await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'once' }, key);
      const again = await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'once' }, key);
      expect(again.data).to.deep.equal(first.data);
      const streamed = await host.stream('/api/v1/agents/a1/invoke', { content: 'once' }, key);
      expect(streamed.events.map(({ event }) => event)).to.deep.equal(['trace', 'token', 'done']);
      expect(eventsFrom(streamed.text)[1]?.data).to.deep.equal({ delta: (first.data as { reply: string }).reply });
      expectError(await host.request('POST', '/api/v1/agents/a1/invoke', { content: 'twice' }, key), 409);
    });
  });

  describe('providers', () => {
    it('are masked, kept, replaced and removed as clients ask', async () => {
      const base = { name: 'p1', apiKey: 'sk-secret-value-1234', baseUrl: 'http://127.0.0.1:9' };
      const created = await host.request('POST', '/api/v1/providers', base);
      expect(created.data).to.deep.include({ name: 'p1', apiKey: '****1234' });
      expectError(await host.request('POST', '/api/v1/providers', base), 400);
      expectError(await host.request('POST', '/api/v1/providers', { name: 'p2' }), 400, /baseUrl/);
      for (const apiKey of ['****1234', '', undefined]) {
        const { data } = await host.request('PUT', '/api/v1/providers/p1', { apiKey, baseUrl: 'http://127.0.0.1:9' });
        expect(data).to.deep.include({ apiKey: '****1234' });
      }
      expectError(await host.request('PUT', '/api/v1/providers/p1', { apiKey: '****1234', baseUrl: 'http://127.0.0.2:9' }), 400, /key/);
      const removed = await host.request('PUT', '/api/v1/providers/p1', { apiKey: null, baseUrl: 'http://127.0.0.1:9' });
      expect(removed.data).to.deep.include({ apiKey: null });
      const files = await readdir(host.root);
      for (const file of files.filter((name) => name.startsWith('oryxos.db'))) {
        expect((await readFile(join(host.root, file))).includes('sk-secret-value-1234'), file).to.equal(false);
      }
    });

    it('answer 503 when they cannot be reached, and mock has its model', async () => {
      await host.request('POST', '/api/v1/providers', { name: 'closed', baseUrl: 'http://127.0.0.1:9' });
      expectError(await host.request('GET', '/api/v1/providers/closed/models'), 503);
      expectError(await host.request('POST', '/api/v1/providers/closed/test'), 503);
      expect((await host.request('GET', '/api/v1/providers/mock/models')).data).to.deep.equal(['mock']);
    });
  });

  it('shows the tools that exist', async () => {
    const tools = (await host.request('GET', '/api/v1/tools')).data as { name: string; description: string }[];
    expect(tools.map(({ name }) => name)).to.include.members([
      'ask_user',
      'current_time',
      'json_extract',
      'list_dir',
      'read_file',
      'recall_memory',
      'save_memory',
      'write_file',
    ]);
    for (const { description } of tools) expect(description.length).to.be.greaterThan(20);
  });

  it('shows a page to browsers and 404 to everyone else at /', async () => {
    const page = await host.request('GET', '/', undefined, { accept: 'text/html' });
    expect(page.status).to.equal(200);
    expect(page.text).to.include('OryxOS');
    expectError(await host.request('GET', '/'), 404);
  });
});
