/** Model providers that fail, lie, stall or never stop; with a second provider behind the first. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chain, chained, startChain } from '../plugins/fallback/chain.ts';
import { callsTools, chunk, cutsAfter, event, type ModelReply, raw, says, stalls, status } from '../harness/model-server.ts';
import { until } from '../harness/until.ts';
import type { RunCase } from './corpus.ts';
import { holds } from './holds.ts';

const MESSAGES = '/api/v1/agents/a1/session/messages';
const MIB = 2 ** 20;

interface Message {
  readonly role: string;
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string }[];
}

interface ModelMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
}

/** Agent `a1` on provider p1 with p2 behind it, agent `only` on p1 alone. */
async function startProviders(config: Readonly<Record<string, unknown>> = {}): Promise<Chain> {
  const extra = 'tools: [current_time, append_file]\nsettings: {on_fatal_tool_error: feedback, max_iterations: 5}';
  return startChain({ agents: { a1: chained('a1', ['p1', 'p2'], extra), only: chained('only', ['p1'], extra) }, config });
}

const historyOf = async ({ host }: Chain): Promise<readonly Message[]> =>
  ((await host.request('GET', '/api/v1/agents/a1/session')).data as { readonly messages: readonly Message[] }).messages;

/** What a provider was asked, without what differs between two providers by right. */
const askedOf = (chain: Chain, index: number): unknown => {
  const { model: _model, ...rest } = lastBody(chain, index);
  return rest;
};

function lastBody(chain: Chain, index: number): Readonly<Record<string, unknown>> & { readonly messages: readonly ModelMessage[] } {
  const asked = chain.servers[index]?.requests.at(-1);
  if (asked === undefined) throw new Error(`p${index + 1} was not asked`);
  return asked.body;
}

/** Answers without end until the client has had enough. */
const endless: ModelReply = async (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'x'.repeat(64 * 1024) } }] })}\n\n`;
  const closed = new Promise((resolve) => response.once('close', resolve));
  for (let sent = 0; sent < 100 * MIB && !response.destroyed; sent += piece.length) {
    if (response.write(piece)) continue;
    await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
  }
  response.end();
};

const fallbackOnlyForFaults = holds(async () => {
  await using chain = await startProviders();
  const say = async (reply: ModelReply, stepMs = 0) => {
    chain.answering(reply);
    return chain.during(chain.host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x' }), stepMs);
  };
  const switches: readonly (readonly [string, ModelReply])[] = [
    ...[500, 503, 429, 408, 401, 403].map((code) => [String(code), status(code)] as const),
    ['a stall', stalls()],
    ['a cut connection', cutsAfter('')],
  ];
  for (const [what, reply] of switches) {
    const answer = await say(reply, what.includes('stall') ? 5_000 : 0);
    expect(answer.data, what).to.include({ reply: 'answer of p2' });
    expect(chain.asked(), what).to.deep.equal([1, 1, 0]);
    // The prompt names the minute, which is another one after a stall.
    if (!what.includes('stall')) expect(askedOf(chain, 0), what).to.deep.equal(askedOf(chain, 1));
    const traceId = (answer.data as { readonly traceId: string }).traceId;
    const line = chain.lines.find((each) => each.traceId === traceId && each.level === 'warn');
    expect(JSON.stringify(line?.fields), what).to.include('p1').and.include('p2');
  }
  for (const code of [400, 422]) {
    const answer = await say(status(code, { error: { message: 'bad request sk-abcdefghijklmnop1234' } }));
    expect([answer.status, answer.code]).to.deep.equal([503, 503]);
    expect(answer.message).to.include('"p1"').and.not.include('sk-abcdefghijklmnop1234');
    expect(chain.asked()).to.deep.equal([1, 0, 0]);
  }
  const { text } = await chain.host.request('GET', '/actuator/prometheus');
  expect(text).to.include(`oryxos_fallback_switches_total{from="p1",to="p2"} ${switches.length}`);
});

const oddAnswers = holds(async () => {
  await using chain = await startProviders();
  const wholeOrStream = (body: object): ModelReply => raw([event(JSON.stringify(body)), event('[DONE]')]);
  const odd: Readonly<Record<string, ModelReply>> = {
    'no choices': wholeOrStream({ choices: [] }),
    'null content without an end': wholeOrStream({
      choices: [{ message: { role: 'assistant', content: null }, delta: { content: null } }],
    }),
    'a page': raw(['<html>502</html>'], 'text/html'),
    'JSON that is none': raw(['{"choices":'], 'application/json'),
    '100 MB': endless,
  };
  const before = process.memoryUsage().rss;
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
  try {
    for (const [what, reply] of Object.entries(odd)) {
      chain.answering(reply);
      const answer = await chain.during(chain.host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x' }), 1_000);
      expect(answer.data, `${what}: ${answer.text.slice(0, 300)}`).to.include({ reply: 'answer of p2' });
      const alone = await chain.during(chain.host.request('POST', '/api/v1/agents/only/invoke', { content: 'x' }), 1_000);
      expect([alone.status, alone.code, alone.data], what).to.deep.equal([503, 503, null]);
      const streamed = await chain.during(chain.host.stream('/api/v1/agents/only/invoke', { content: 'x' }), 1_000);
      expect(streamed.events.filter(({ event: name }) => name === 'done' || name === 'error').map(({ event: name }) => name)).to.deep.equal(
        ['error'],
      );
      expect(streamed.events.at(-1)?.data, what).to.include({ code: 503 });
    }
  } finally {
    clearInterval(watching);
  }
  expect((peak - before) / MIB, 'MiB more').to.be.below(500);
});

const cutStream = holds(async () => {
  await using chain = await startProviders();
  chain.answering(cutsAfter('three tokens of'));
  const streamed = await chain.host.stream(MESSAGES, { content: 'x' });
  const names = streamed.events.map(({ event: name }) => name);
  expect(names.filter((name) => name === 'done' || name === 'error')).to.deep.equal(['error']);
  expect(names.at(-1)).to.equal('error');
  expect(chain.asked(), 'nobody else is asked once a word was sent').to.deep.equal([1, 0, 0]);
  expect(
    (await historyOf(chain)).filter(({ role }) => role === 'assistant'),
    'no part stands as a reply',
  ).to.deep.equal([]);
  chain.answering();
  expect((await chain.host.request('POST', MESSAGES, { content: 'y' })).data).to.include({ reply: 'answer of p1' });
});

const historyPoison = holds(async () => {
  await using chain = await startProviders();
  chain.answering(status(500), status(500));
  const first = await chain.host.request('POST', MESSAGES, { content: 'first' });
  expect(first.status).to.equal(503);
  expect((await historyOf(chain)).map(({ role, content }) => [role, content])).to.deep.equal([['user', 'first']]);
  chain.answering();
  const second = await chain.host.request('POST', MESSAGES, { content: 'second' });
  expect(second.data).to.include({ reply: 'answer of p1' });
  const { messages } = lastBody(chain, 0);
  expect(JSON.stringify(messages)).to.include('first').and.include('second');
  expect(messages.filter(({ role }) => role === 'tool')).to.deep.equal([]);
});

const endlessLoop = holds(async () => {
  await using chain = await startProviders();
  chain.answering(callsTools([{ name: 'current_time', arguments: { timezone: 'UTC' } }]));
  const answer = await chain.host.request('POST', MESSAGES, { content: 'x' });
  expect(answer.status).to.equal(200);
  expect((answer.data as { readonly stopReason: string }).stopReason).to.be.oneOf(['loop', 'max_iterations']);
  // Never the same call twice, so that only the limit can end it.
  let number = 0;
  chain.answering((request, response) =>
    callsTools([{ name: 'current_time', arguments: { timezone: `Etc/GMT+${(number += 1)}` } }])(request, response),
  );
  const other = await chain.host.request('POST', MESSAGES, { content: 'y' });
  expect([other.status, (other.data as { readonly stopReason: string }).stopReason]).to.deep.equal([200, 'max_iterations']);
  const messages = await historyOf(chain);
  const calls = messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  expect(messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId)).to.deep.equal(calls);
});

const manyCalls = holds(async () => {
  await using chain = await startProviders({ 'file.allowed_paths': ['.oryxos'] });
  const file = join(chain.host.root, 'agents/a1/e.log');
  const calls = Array.from({ length: 500 }, (_, index) => ({
    id: `c${index}`,
    name: 'append_file',
    arguments: { path: file, content: 'x\n' },
  }));
  let asked = 0;
  chain.answering((request, response) => ((asked += 1) === 1 ? callsTools(calls) : says('fine'))(request, response));
  const answer = await chain.host.request('POST', MESSAGES, { content: 'x' });
  expect([answer.status, (answer.data as { readonly stopReason: string }).stopReason]).to.deep.equal([200, 'completed']);
  const { messages } = lastBody(chain, 0);
  const results = messages.filter(({ role }) => role === 'tool');
  expect(results.map(({ tool_call_id: id }) => id)).to.deep.equal(calls.map(({ id }) => id));
  const failed = results.map(({ content }) => content.startsWith('Tool failed:'));
  expect(failed).to.deep.equal(calls.map((_, index) => index >= 32));
  expect(await readFile(file, 'utf8')).to.equal('x\n'.repeat(32));
});

/** The limit of silence is 120 s; the clock is made to move. */
const stallingStream = holds(async () => {
  await using chain = await startProviders();
  const afterHead: ModelReply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  };
  chain.answering(afterHead);
  const stalled = chain.host.request('POST', '/api/v1/agents/a1/invoke', { content: 'x' });
  await chain.servers[0]?.received(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await chain.clock.tick(119_000);
  expect(chain.servers[1]?.requests.length).to.equal(0);
  await chain.clock.tick(5_000);
  expect((await stalled).data).to.include({ reply: 'answer of p2' });
  chain.answering(raw([event(chunk({ content: 'begun ' })), () => new Promise(() => undefined)]));
  const begun = chain.host.stream('/api/v1/agents/a1/invoke', { content: 'x' });
  await until('the first word', () => (chain.servers[0]?.requests.length ?? 0) >= 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const streamed = await chain.during(begun, 5_000);
  expect(streamed.events.at(-1)).to.include({ event: 'error' });
  expect(chain.asked(), 'nobody else is asked once a word was sent').to.deep.equal([1, 0, 0]);
});

/** Faults of providers. */
export const providerFaultCases: Readonly<Record<string, RunCase>> = {
  'durable-p-fallback': fallbackOnlyForFaults,
  'durable-p-empty': oddAnswers,
  'durable-p-cut-stream': cutStream,
  'durable-p-history-poison': historyPoison,
  'durable-p-loop': endlessLoop,
  'durable-p-100-calls': manyCalls,
  'durable-p-stall': stallingStream,
};
