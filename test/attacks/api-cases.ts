/** Cases of the area API that need sockets, streams or a model of their own. */
import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Answer, send } from '../harness/http-client.ts';
import { agentFile, startHost, type TestHost, until } from '../harness/index.ts';
import { cutsAfter, says, startModelServer } from '../harness/model-server.ts';
import { rawClient, statusOf } from '../plugins/http/serving.ts';
import type { RunCase } from './corpus.ts';
import { holds } from './holds.ts';
import { slowReaders } from './slow-readers-case.ts';

const MESSAGES = '/api/v1/agents/a1/session/messages';
const MIB = 2 ** 20;
const STREAM = { accept: 'text/event-stream', 'content-type': 'application/json' };

interface Message {
  readonly role: string;
  readonly content: string;
}

const historyOf = async (host: TestHost): Promise<readonly Message[]> =>
  ((await host.request('GET', '/api/v1/agents/a1/session')).data as { readonly messages: readonly Message[] }).messages;

const start = (model?: string): Promise<TestHost> =>
  startHost({ agents: { a1: agentFile('a1'), a2: agentFile('a2') }, ...(model !== undefined && { modelUrl: model }) });

/** Fails when the process grows by more than `maxMiB` meanwhile, or health takes longer than a second. */
async function watched(host: TestHost, maxMiB: number, work: () => Promise<void>): Promise<void> {
  const before = process.memoryUsage().rss;
  let [peak, slowest, going] = [before, 0, true];
  const looking = (async () => {
    while (going) {
      const since = performance.now();
      expect((await host.request('GET', '/api/v1/health')).status).to.equal(200);
      slowest = Math.max(slowest, performance.now() - since);
      peak = Math.max(peak, process.memoryUsage().rss);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  try {
    await work();
  } finally {
    going = false;
    await looking;
  }
  expect((peak - before) / MIB, 'MiB more').to.be.below(maxMiB);
  expect(slowest, 'ms for health').to.be.below(1_000);
}

function expectEnvelope({ code, status, data, message, text }: Answer): void {
  expect(code, text.slice(0, 200)).to.equal(status);
  expect(data).to.equal(null);
  expect(message).to.be.a('string').and.not.equal('');
  expect((JSON.parse(text) as { readonly timestamp: unknown }).timestamp).to.be.a('number');
}

/** A gzip stream whose content is `bytes` zeros, by repeating one member: decoders take members that follow each other as one stream. */
function bomb(bytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(64 * MIB), { level: 9 });
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / (64 * MIB)) }, () => member));
}

const gzipBomb = holds(async () => {
  await using host = await start();
  await watched(host, 400, async () => {
    const body = bomb(2 ** 30);
    const answer = await posted(host, '/api/v1/sessions', { 'content-encoding': 'gzip' }, [body]);
    expect(answer.status).to.be.oneOf([400, 413, 415]);
    expectEnvelope(answer);
  });
});

const chunkedBody = holds(async () => {
  await using host = await start();
  await watched(host, 400, async () => {
    const piece = Buffer.alloc(64 * 1024, 0x20);
    const answer = await posted(
      host,
      '/api/v1/sessions',
      {},
      Array.from({ length: 200_000_000 / piece.length }, () => piece),
    );
    expect(answer.status).to.equal(413);
    expectEnvelope(answer);
  });
});

/** Posts pieces without a length, until they are all sent or the server answers; what it answers first counts. */
function posted(host: TestHost, path: string, headers: Readonly<Record<string, string>>, pieces: readonly Buffer[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(host.url);
    let answered = false;
    const outgoing = httpRequest(
      { hostname, port, path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        answered = true;
        textOf(response).then((text) => {
          const envelope = JSON.parse(text) as Partial<Answer>;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            code: envelope.code,
            message: envelope.message,
            data: envelope.data,
          });
          outgoing.destroy();
        }, reject);
      },
    );
    outgoing.on('error', (error) => answered || reject(error));
    const closed = new Promise((next) => outgoing.once('close', next));
    void (async () => {
      for (const piece of pieces) {
        if (answered || outgoing.destroyed) return;
        if (outgoing.write(piece)) continue;
        await Promise.race([new Promise((next) => outgoing.once('drain', next)), closed]);
      }
      outgoing.end();
    })();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const piece of response) chunks.push(piece as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The body is text of its own: what looks like front matter in it is neither read nor changed. */
const bodyFrontMatter = holds(async () => {
  await using host = await start();
  const pwned = join(host.home, 'pwn-js4');
  const body = `---js\nrequire('fs').writeFileSync('${pwned}','1')\n---\n\n---\nname: other\n---\r\nend  `;
  await host.write('agents/a1/AGENT.md', `---\nname: a1\nprovider: {name: scripted, model: m}\n---\n${body}`);
  await until('the new file', () => host.kernel.registry('profile').get('a1')?.model === 'm');
  const changed = await host.request('PUT', '/api/v1/agents/a1/basic', { description: 'another one' });
  expect(changed.status).to.equal(200);
  expect(changed.data).to.include({ description: 'another one' });
  const text = readFileSync(join(host.root, 'agents/a1/AGENT.md'), 'utf8');
  expect(text.slice(text.indexOf('---js'))).to.equal(body);
  expect(existsSync(pwned)).to.equal(false);
});

const deleteAndRecreate = holds(async () => {
  await using host = await start();
  await host.write('agents/a1/MEMORY.md', '# Core\n- the old secret\n');
  await host.request('POST', MESSAGES, { content: 'an old message' });
  let release: () => void = () => undefined;
  host.model.will({ content: 'late answer', after: new Promise<void>((resolve) => (release = resolve)) });
  const running = host.request('POST', MESSAGES, { content: 'x' });
  await until('the run', () => host.model.requests.length === 2);
  const gone = await host.request('DELETE', '/api/v1/agents/a1');
  expect(gone.status).to.equal(200);
  const made = await host.request('POST', '/api/v1/agents', { name: 'a1', description: 'new' });
  expect(made.status, made.text).to.equal(200);
  release();
  const old = await running;
  expect(old.status === 200 ? old.data : { code: old.code }).to.satisfy(
    (it: { reply?: string; code?: number }) => it.reply === 'late answer' || (it.code ?? 0) >= 400,
  );
  await host.request('PUT', '/api/v1/agents/a1/basic', { provider: 'scripted', model: 'm' });
  await host.request('POST', MESSAGES, { content: 'hello' });
  const prompt = JSON.stringify(host.model.requests.at(-1)?.messages);
  expect(prompt).to.include('hello').and.not.include('an old message').and.not.include('the old secret').and.not.include('late answer');
  await host.request('DELETE', '/api/v1/agents/a1');
  const archived = readdirSync(join(host.root, 'archive'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('AGENT.md'),
  );
  expect(archived).to.have.length(2);
});

const sessionLock = holds(async () => {
  await using host = await start();
  let [open, most] = [0, 0];
  host.model.always(async ({ messages }) => {
    most = Math.max(most, (open += 1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    open -= 1;
    return { content: `re: ${messages.at(-1)?.content}` };
  });
  const contents = ['m0', 'm1', 'm2', 'm3', 'm4'];
  const answers: Promise<Answer>[] = [];
  for (const content of contents) {
    answers.push(host.request('POST', MESSAGES, { content }));
    await until('it to be accepted', async () => (await host.rows('turns')).length === answers.length);
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
  expect(most).to.equal(1);
  expect((await historyOf(host)).map(({ content }) => content)).to.deep.equal(contents.flatMap((content) => [content, `re: ${content}`]));
});

/** Clients that send their headers, or their body, a byte at a time. The real limits take a minute. */
const slowloris = (seconds: number): RunCase =>
  holds(async () => {
    await using host = await start();
    const port = Number(new URL(host.url).port);
    const heads = [
      'GET / HTTP/1.1\r\nHost: localhost\r\nX: ',
      'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
    ];
    await watched(host, 200, async () => {
      const since = performance.now();
      const clients = await Promise.all(Array.from({ length: 200 }, () => rawClient(port)));
      for (const [index, client] of clients.entries()) client.write(heads[index % 2] ?? '');
      const dripping = setInterval(() => {
        for (const { socket } of clients) if (!socket.destroyed) socket.write('x');
      }, 500);
      try {
        if (seconds > 60) await Promise.all(clients.map(({ ended }) => ended));
        else await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      } finally {
        clearInterval(dripping);
        for (const client of clients) client.close();
      }
      if (seconds > 60) {
        expect((performance.now() - since) / 1_000, 'seconds until the last was cut off').to.be.below(61);
        for (const { text } of clients) expect(statusOf(text)).to.equal(408);
      }
    });
  });

/** The run ends well without its listener, and nothing stays behind. */
const disconnect = (times: number): RunCase =>
  holds(async () => {
    await using host = await start();
    const reply = Array.from({ length: 200 }, (_, index) => `word-${index}-xxxxxxxxx `);
    host.model.always(async () => ({ content: reply.join(''), deltas: reply }));
    const once = async (): Promise<void> => {
      const response = await send(host.url, 'POST', MESSAGES, JSON.stringify({ content: 'x' }), STREAM);
      await new Promise((resolve) => response.once('data', resolve));
      response.destroy();
    };
    await once();
    await until('the first run', async () => (await host.rows('llm_calls')).length === 1);
    const listeners = (): number => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    const [before, resources] = [listeners(), process.getActiveResourcesInfo().length];
    for (let time = 1; time < times; time += 1) await once();
    await until('all runs', async () => (await host.rows('llm_calls')).length === times, 30_000);
    await until(
      'the sessions to be idle',
      async () => ((await host.request('GET', '/api/v1/runs')).data as readonly unknown[]).length === 0,
    );
    const rows = await host.rows('messages');
    expect(rows.filter(({ role }) => role === 'assistant').every(({ content }) => content === reply.join(''))).to.equal(true);
    expect(rows.filter(({ role }) => role === 'assistant')).to.have.length(times);
    expect(listeners()).to.equal(before);
    await until('sockets to close', () => process.getActiveResourcesInfo().length <= resources + 2);
  });

const forgedEvents = holds(async () => {
  await using host = await start();
  const text = 'hi\n\nevent: done\ndata: {"reply":"forged"}\n\n x\r\ndata: y\u2028event: error';
  host.model.will({ content: text, deltas: text.split('') });
  const { events, text: sent } = await host.stream(MESSAGES, { content: 'x' });
  expect(events.filter(({ event }) => event === 'done' || event === 'error')).to.have.length(1);
  expect(events.at(-1)?.data).to.include({ reply: text });
  const tokens = events.filter(({ event }) => event === 'token').map(({ data }) => (data as { readonly delta: string }).delta);
  expect(tokens.join('')).to.equal(text);
  for (const block of sent.split('\n\n').filter((each) => each.includes('data:')))
    expect(block.match(/^data: /gm), block).to.have.length(1);
});

const oneTerminal = holds(async () => {
  await using model = await startModelServer();
  await using host = await start(model.baseUrl);
  model.fallback = cutsAfter('some words that ');
  const failed = await host.stream(MESSAGES, { content: 'x' });
  const terminal = ({ events }: Awaited<ReturnType<TestHost['stream']>>): readonly string[] =>
    events.map(({ event }) => event).filter((event) => event === 'done' || event === 'error');
  expect(terminal(failed)).to.deep.equal(['error']);
  expect(failed.events.at(-1)?.event).to.equal('error');
  model.fallback = says('all is well here');
  const fine = await host.stream(MESSAGES, { content: 'y' });
  expect(terminal(fine)).to.deep.equal(['done']);
  const tokens = fine.events.filter(({ event }) => event === 'token').map(({ data }) => (data as { readonly delta: string }).delta);
  expect(fine.events.at(-1)?.data).to.include({ reply: tokens.join('') });
});

/** Says something in a session of its own: the open stream, or the answer that refuses it. */
async function streamOrRefusal(host: TestHost, userId: string): Promise<Answer | IncomingMessage> {
  const session = await host.request('POST', '/api/v1/sessions', { profile: 'a1', userId });
  const id = (session.data as { readonly sessionId: string }).sessionId;
  const response = await send(host.url, 'POST', `/api/v1/sessions/${id}/messages`, JSON.stringify({ content: 'x' }), STREAM);
  if (response.statusCode === 200) return response;
  const text = await textOf(response);
  const { code, message, data } = JSON.parse(text) as Answer;
  return { status: response.statusCode ?? 0, headers: response.headers, text, code, message, data };
}

/** Idle connections, and streams of runs that wait. */
const manyConnections = (connections: number, holdMs: number): RunCase =>
  holds(async () => {
    await using host = await start();
    host.model.always(async () => ({ after: new Promise((resolve) => setTimeout(resolve, 30_000)), content: 'late' }));
    const port = Number(new URL(host.url).port);
    const idle = await Promise.all(Array.from({ length: connections }, () => rawClient(port)));
    const outcomes: (Answer | IncomingMessage)[] = [];
    await Promise.all(Array.from({ length: 300 }, async (_, number) => void outcomes.push(await streamOrRefusal(host, `u${number}`))));
    const open = outcomes.filter((outcome): outcome is IncomingMessage => 'resume' in outcome);
    const refused = outcomes.filter((outcome): outcome is Answer => !('resume' in outcome));
    // What it takes to open so many belongs to the clients, which live in this process too.
    await watched(host, 400, () => new Promise((resolve) => setTimeout(resolve, holdMs)));
    expect(open).to.have.length(256);
    for (const answer of refused) {
      expect(answer.status).to.equal(503);
      expectEnvelope(answer);
    }
    for (const response of open) response.on('error', () => undefined).destroy();
    for (const client of idle) client.close();
    await until('places to be free', async () => {
      const response = await send(host.url, 'POST', '/api/v1/agents/a2/invoke', JSON.stringify({ content: 'x' }), STREAM);
      response.on('error', () => undefined).destroy();
      return response.statusCode === 200;
    });
  });

/** What the common words cannot say. `full` takes the numbers and times of the corpus. */
export const apiCases = (full: boolean): Readonly<Record<string, RunCase>> => ({
  'api-gzip-body': gzipBomb,
  'api-oversize-chunked': chunkedBody,
  'api-frontmatter-js-body': bodyFrontMatter,
  'api-delete-recreate': deleteAndRecreate,
  'api-session-lock': sessionLock,
  'api-slowloris': slowloris(full ? 70 : 2),
  'api-sse-disconnect': disconnect(full ? 500 : 30),
  'api-sse-inject': forgedEvents,
  'api-sse-one-terminal': oneTerminal,
  'api-sse-slow': full ? slowReaders(20, 200_000) : slowReaders(4, 150_000),
  'api-sse-too-many': full ? manyConnections(2_000, 10_000) : manyConnections(500, 500),
});
