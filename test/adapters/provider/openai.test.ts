import { expect } from 'chai';
import type { LlmFailure, LlmReply, LlmRequest, ToolSchema } from '../../../kernel/index.ts';
import { providerContract } from '../../contract/provider.ts';
import {
  callsTools,
  chunk,
  event,
  json,
  type ModelServer,
  type Piece,
  raw,
  says,
  startModelServer,
  status,
} from '../../harness/model-server.ts';
import { until } from '../../harness/until.ts';
import { ask, connected, type Outgoing, outgoing } from './outgoing.ts';

const never = (): AbortSignal => new AbortController().signal;
const weather: ToolSchema = { name: 'weather.get/now', description: 'Weather', parameters: { type: 'object', properties: {} } };

providerContract('openai', async () => {
  const server = await startModelServer();
  const out = outgoing();
  server.fallback = (request, response) =>
    (request.body.tools ? callsTools([{ name: request.body.tools[0].function.name }]) : says('Good morning to you.'))(request, response);
  return {
    provider: connected(out, server.baseUrl),
    talk: ask('hello'),
    call: ask('weather?', { tools: [weather] }),
    async close() {
      await out.close();
      await server.close();
    },
  };
});

describe('the openai adapter', function () {
  this.timeout(20_000);
  let server: ModelServer;
  let out: Outgoing;
  beforeEach(async () => {
    server = await startModelServer();
    out = outgoing();
  });
  afterEach(async () => {
    await out.close();
    await server.close();
  });

  async function reply(request: LlmRequest = ask('hi'), onDelta: (text: string) => void = () => {}): Promise<LlmReply> {
    const result = await connected(out, server.baseUrl).chat(request, onDelta, never());
    if (!result.ok) throw new Error(result.failure.message);
    return result.reply;
  }

  async function failure(request: LlmRequest = ask('hi'), onDelta: (text: string) => void = () => {}): Promise<LlmFailure> {
    const result = await connected(out, server.baseUrl).chat(request, onDelta, never());
    if (result.ok) throw new Error(`it answered "${result.reply.content}"`);
    return result.failure;
  }

  describe('sends', () => {
    it('model, system prompt and messages as a stream with usage, and nothing that was not asked for', async () => {
      await reply();
      expect(server.requests[0]?.path).to.equal('/v1/chat/completions');
      expect(server.requests[0]?.body).to.deep.equal({
        model: 'm1',
        messages: [
          { role: 'system', content: 'You are a test.' },
          { role: 'user', content: 'hi' },
        ],
        stream: true,
        stream_options: { include_usage: true },
      });
    });

    it('the temperature when there is one, zero too', async () => {
      await reply(ask('hi', { temperature: 0 }));
      expect(server.requests[0]?.body.temperature).to.equal(0);
    });

    it('no system message for an empty prompt', async () => {
      await reply(ask('hi', { system: '' }));
      expect(server.requests[0]?.body.messages).to.have.length(1);
    });

    it('the key as bearer token and nothing about this machine or its environment', async () => {
      const before = process.env['OPENAI_CUSTOM_HEADERS'];
      process.env['OPENAI_CUSTOM_HEADERS'] = 'Authorization: Bearer stolen\nX-Other: 1';
      process.env['OPENAI_ORG_ID'] = 'org-of-somebody';
      try {
        await reply();
      } finally {
        delete process.env['OPENAI_ORG_ID'];
        if (before === undefined) delete process.env['OPENAI_CUSTOM_HEADERS'];
        else process.env['OPENAI_CUSTOM_HEADERS'] = before;
      }
      const headers = server.requests[0]?.headers ?? {};
      expect(headers.authorization).to.equal('Bearer sk-test-key-123456');
      expect(Object.keys(headers).sort()).to.deep.equal([
        'accept',
        'accept-encoding',
        'authorization',
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
      ]);
    });

    it('no authorization without a key', async () => {
      await connected(out, server.baseUrl, { apiKey: undefined }).chat(ask('hi'), () => {}, never());
      expect(server.requests[0]?.headers).to.not.have.property('authorization');
    });

    it('a conversation with tool calls and their results', async () => {
      await reply(
        ask('', {
          messages: [
            { role: 'user', content: 'q' },
            { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'a', argumentsJson: '{"x":1}' }] },
            { role: 'tool', toolName: 'a', toolCallId: 'c1', content: 'r' },
            { role: 'assistant', content: 'done', toolCalls: [] },
            { role: 'user', content: 'next' },
          ],
        }),
      );
      expect(server.requests[0]?.body.messages.slice(1)).to.deep.equal([
        { role: 'user', content: 'q' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'r' },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: 'next' },
      ]);
    });

    for (const broken of ['', '{bad', '[1]', 'null']) {
      it(`"{}" for the earlier arguments ${JSON.stringify(broken)}: servers refuse the whole request otherwise`, async () => {
        await reply(
          ask('', { messages: [{ role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'a', argumentsJson: broken }] }] }),
        );
        expect(server.requests[0]?.body.messages[1].tool_calls[0].function.arguments).to.equal('{}');
      });
    }

    it('tool names that servers accept, the same ones in the history, and gives the declared name back', async () => {
      server.will((request, response) => callsTools([{ name: request.body.tools[0].function.name }])(request, response));
      const messages = [
        { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: weather.name, argumentsJson: '{}' }] },
        { role: 'tool', toolName: weather.name, toolCallId: 'c', content: 'r' },
      ] as const;
      const { toolCalls } = await reply(ask('', { messages, tools: [weather] }));
      const { tools, messages: sent } = server.requests[0]?.body ?? {};
      expect(tools[0].function.name).to.match(/^[A-Za-z0-9_-]{1,64}$/);
      expect(sent[1].tool_calls[0].function.name).to.equal(tools[0].function.name);
      expect(toolCalls[0]?.name).to.equal(weather.name);
    });

    it('fields that a provider needs back to that provider only', async () => {
      const echo = { provider: 'p1', fields: { reasoning_content: 'I thought', role: 'system', content: 'forged' } };
      const messages = [{ role: 'assistant', content: 'said', toolCalls: [], echo }] as const;
      await reply(ask('', { messages }));
      await reply(ask('', { messages: [{ ...messages[0], echo: { ...echo, provider: 'p2' } }] }));
      expect(server.requests[0]?.body.messages[1]).to.deep.equal({ role: 'assistant', content: 'said', reasoning_content: 'I thought' });
      expect(server.requests[1]?.body.messages[1]).to.deep.equal({ role: 'assistant', content: 'said' });
    });

    it('the same bytes for the same request, from its cache too', async () => {
      const provider = connected(out, server.baseUrl);
      const request = ask('hi', { tools: [weather] });
      await provider.chat(request, () => {}, never());
      await provider.chat(request, () => {}, never());
      await provider.chat({ ...request, tools: [{ ...weather, description: 'other' }] }, () => {}, never());
      expect(server.requests[1]?.body).to.deep.equal(server.requests[0]?.body);
      expect(server.requests[2]?.body.tools[0].function.description).to.equal('other');
    });

    it('one request after another over one connection', async () => {
      const provider = connected(out, server.baseUrl);
      for (let count = 0; count < 5; count += 1) await provider.chat(ask(`${count}`), () => {}, never());
      server.will(status(500), status(401, 'no'));
      for (let count = 0; count < 3; count += 1) await provider.chat(ask(`${count}`), () => {}, never());
      expect(server.requests).to.have.length(8);
      expect(server.connections).to.equal(1);
    });
  });

  describe('reads', () => {
    it('2 000 tokens in order', async () => {
      const pieces = Array.from({ length: 2_000 }, (_, index) => `t${index} `);
      server.will(says('', { pieces }));
      const deltas: string[] = [];
      const { content } = await reply(ask('hi'), (text) => deltas.push(text));
      expect(content).to.equal(pieces.join(''));
      expect(deltas.join('')).to.equal(content);
    });

    it('one delta for each piece that arrives, however many events it holds', async () => {
      const events = ['a', 'b', 'c'].map((content) => event(chunk({ content }))).join('');
      const deltas: string[] = [];
      const heard = () => until('the first piece', () => deltas.length > 0);
      server.will(raw([events, heard, event(chunk({ content: 'd' })) + event(chunk({}, 'stop')), event('[DONE]')]));
      await reply(ask('hi'), (text) => deltas.push(text));
      expect(deltas).to.deep.equal(['abc', 'd']);
    });

    it('characters that are cut between two pieces', async () => {
      const bytes = Buffer.from(event(chunk({ content: 'ü, 记住, 😀' })) + event(chunk({}, 'stop')), 'utf8');
      const apart = () => new Promise((resolve) => setImmediate(resolve));
      server.will(raw(Array.from(bytes).flatMap((byte): Piece[] => [Uint8Array.of(byte), apart, apart, apart])));
      const deltas: string[] = [];
      expect((await reply(ask('hi'), (text) => deltas.push(text))).content).to.equal('ü, 记住, 😀');
      expect(deltas.join('')).to.equal('ü, 记住, 😀');
    });

    it('a surrogate pair that is cut between two events, and never sends half of it', async () => {
      const half = (unit: string): string => `{"choices":[{"index":0,"delta":{"content":"${unit}"}}]}`;
      const deltas: string[] = [];
      const heard = () => until('the first piece', () => deltas.length > 0);
      server.will(raw([event(half('x\\ud83d')), heard, event(half('\\ude00y')), event(chunk({}, 'stop'))]));
      expect((await reply(ask('hi'), (text) => deltas.push(text))).content).to.equal('x😀y');
      expect(deltas).to.deep.equal(['x', '😀y']);
    });

    it('CRLF, comments, missing blanks and a missing [DONE]', async () => {
      server.will(raw([`: ping\r\n\r\ndata:${chunk({ content: 'a' })}\r\n\r\n`, `data: ${chunk({}, 'stop')}`]));
      expect((await reply()).content).to.equal('a');
    });

    it('one whole answer from a server that does not stream', async () => {
      const calls = [{ id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } }];
      const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
      server.will(
        json({
          choices: [{ message: { content: 'whole', tool_calls: calls, reasoning_content: 'r' }, finish_reason: 'tool_calls' }],
          usage,
        }),
      );
      const deltas: string[] = [];
      const answer = await reply(ask('hi'), (text) => deltas.push(text));
      expect(deltas).to.deep.equal(['whole']);
      expect(answer.toolCalls).to.deep.equal([{ id: 'c1', name: 'a', argumentsJson: '{"x":1}' }]);
      expect(answer.echo).to.deep.equal({ reasoning_content: 'r' });
      expect(answer.usage.totalTokens).to.equal(3);
    });

    for (const content of [null, '', undefined]) {
      it(`content ${JSON.stringify(content)} with a finish reason as the empty answer`, async () => {
        server.will(raw([event(chunk({ content })), event(chunk({}, 'stop')), event('[DONE]')]));
        expect((await reply()).content).to.equal('');
      });
    }

    it('content that comes as a list of parts, and a refusal as text', async () => {
      server.will(
        raw([event(chunk({ content: [{ type: 'text', text: 'a' }, { type: 'image' }] })), event(chunk({ refusal: 'b' }, 'stop'))]),
      );
      const { content, echo } = await reply();
      expect(content).to.equal('ab');
      expect(echo).to.equal(undefined);
    });

    it('only the first choice', async () => {
      const second = JSON.stringify({ choices: [{ index: 1, delta: { content: 'NO' }, finish_reason: 'stop' }] });
      server.will(raw([event(second), event(chunk({ content: 'yes' })), event(chunk({}, 'stop'))]));
      expect((await reply()).content).to.equal('yes');
    });

    it('all token counts that are reported, and null for the rest', async () => {
      const usage = {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      };
      server.will(says('a', { usage }), says('b', { usage: { prompt_tokens: 0, total_tokens: '9' } }), says('c', { usage: null }));
      expect((await reply()).usage).to.deep.equal({
        promptTokens: 10,
        completionTokens: 5,
        totalTokens: 15,
        cachedTokens: 4,
        reasoningTokens: 2,
      });
      const some = (await reply()).usage;
      expect([some.promptTokens, some.completionTokens, some.totalTokens]).to.deep.equal([0, null, null]);
      expect(Object.values((await reply()).usage)).to.deep.equal([null, null, null, null, null]);
    });

    it('unknown fields of the message, joined over the stream, for the way back', async () => {
      const details = (text: string) => [{ type: 'reasoning.text', text }];
      server.will(
        raw([
          event(chunk({ role: 'assistant', reasoning_content: 'Let me ', reasoning_details: details('a'), audio: null })),
          event(chunk({ reasoning_content: 'think.', reasoning_details: details('b'), content: 'ok' })),
          event(chunk({ annotations: [] }, 'stop')),
        ]),
      );
      const { echo, content } = await reply();
      expect(content).to.equal('ok');
      expect(echo).to.deep.equal({ reasoning_content: 'Let me think.', reasoning_details: [...details('a'), ...details('b')] });
    });

    it('unknown fields of tool calls, which then go back with their call', async () => {
      const extra = { extra_content: { google: { thought_signature: 's' } } };
      const whole = { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{}' }, ...extra };
      server.will(raw([event(chunk({ tool_calls: [whole] })), event(chunk({}, 'tool_calls'))]));
      const { toolCalls, echo } = await reply();
      await reply(ask('', { messages: [{ role: 'assistant', content: '', toolCalls, echo: { provider: 'p1', fields: echo ?? {} } }] }));
      expect(server.requests[1]?.body.messages[1].tool_calls[0]).to.deep.equal({
        id: 'c1',
        type: 'function',
        function: { name: 'a', arguments: '{}' },
        ...extra,
      });
    });

    it('an answer whose connection breaks after its finish reason', async () => {
      const deltas: string[] = [];
      server.will(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(chunk({ content: 'whole' })) + event(chunk({}, 'stop')));
        await until('the text', () => deltas.length > 0);
        response.destroy();
      });
      const answer = await reply(ask('hi'), (text) => deltas.push(text));
      expect(answer.content).to.equal('whole');
      expect(answer.usage.totalTokens).to.equal(null);
    });

    it('models from a list of objects or a bare list, sorted and once each', async () => {
      const provider = connected(out, server.baseUrl);
      server.modelsReply = json({ data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }, { name: 'no id' }, null] });
      expect(await provider.models(never())).to.deep.equal({ ok: true, models: ['a', 'b'] });
      server.modelsReply = json([{ id: 'z' }]);
      expect(await provider.models(never())).to.deep.equal({ ok: true, models: ['z'] });
      expect(server.others[0]).to.include({ method: 'GET', path: '/v1/models' });
    });

    it('a key named __proto__ without being changed by it', async () => {
      server.will(raw([event('{"choices":[{"index":0,"delta":{"__proto__":{"polluted":true},"content":"a"},"finish_reason":"stop"}]}')]));
      const { content } = await reply();
      expect(content).to.equal('a');
      expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
    });
  });

  describe('puts tool calls together', () => {
    const calls = async (...pieces: readonly (readonly unknown[])[]) => {
      server.will(raw([...pieces.map((tool_calls) => event(chunk({ tool_calls }))), event(chunk({}, 'tool_calls')), event('[DONE]')]));
      return (await reply()).toolCalls.map(({ id, name, argumentsJson }) => [id, name, argumentsJson]);
    };
    const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
      ...(index !== undefined && { index }),
      ...(id !== undefined && { id }),
      function: { ...(name !== undefined && { name }), arguments: args },
    });

    it('from pieces by index, interleaved', async () => {
      const joined = await calls(
        [piece(0, 'c1', 'a', ''), piece(1, 'c2', 'b', '{"y"')],
        [piece(0, undefined, undefined, '{"x":'), piece(1, undefined, undefined, ':2}')],
        [piece(0, undefined, undefined, '1}')],
      );
      expect(joined).to.deep.equal([
        ['c1', 'a', '{"x":1}'],
        ['c2', 'b', '{"y":2}'],
      ]);
    });

    it('from pieces without an index', async () => {
      const joined = await calls(
        [piece(undefined, 'c1', 'a', '{"x":')],
        [piece(undefined, undefined, undefined, '1}')],
        [piece(undefined, 'c2', 'a', '{}')],
      );
      expect(joined).to.deep.equal([
        ['c1', 'a', '{"x":1}'],
        ['c2', 'a', '{}'],
      ]);
    });

    it('from pieces that repeat id and name', async () => {
      const joined = await calls([piece(0, 'c1', 'a', '{"x":')], [piece(0, 'c1', 'a', '1}')], [piece(undefined, 'c1', 'a', '')]);
      expect(joined).to.deep.equal([['c1', 'a', '{"x":1}']]);
    });

    it('from whole calls at once, with the same index, without ids, or with the same id', async () => {
      expect(await calls([piece(0, 'c1', 'a', '{}'), piece(0, 'c2', 'a', '{}')])).to.have.length(2);
      expect(await calls([piece(undefined, undefined, 'a', '{}'), piece(undefined, undefined, 'a', '{}')])).to.have.length(2);
      expect(await calls([piece(0, 'c1', 'a', '{}'), piece(1, 'c1', 'b', '{}')])).to.deep.equal([
        ['c1', 'a', '{}'],
        ['c1', 'b', '{}'],
      ]);
    });

    it('from a name in parts, arguments as an object, and null where nothing is', async () => {
      expect(await calls([piece(0, 'c1', 'get_', null)], [piece(0, undefined, 'time', { zone: 'UTC' })])).to.deep.equal([
        ['c1', 'get_time', '{"zone":"UTC"}'],
      ]);
    });

    it('keeps arguments that are no JSON, and blank ids, as they came', async () => {
      expect(await calls([piece(0, '', 'a', '{bad')])).to.deep.equal([['', 'a', '{bad']]);
    });
  });

  describe('never shows', () => {
    it('the key or a control character that the server echoes', async () => {
      server.will(status(401, { error: { message: 'Incorrect API key provided:\r\n\u001b[31msk-test-key-123456' } }));
      const { message } = await failure();
      expect(message).to.equal('Provider "p1" answered 401: Incorrect API key provided: [31m****');
    });

    it('what its mask hides, even where the cut would have come in between', async () => {
      const provider = connected(out, server.baseUrl, { mask: (text) => text.replaceAll('other-secret-value', '****') });
      server.will(status(500, { error: `${'x'.repeat(190)} other-secret-value and more ${'y'.repeat(300)}` }));
      const result = await provider.chat(ask('hi'), () => {}, never());
      if (result.ok) throw new Error('it answered');
      expect(result.failure.message).to.not.include('other-secr');
      expect(result.failure.message.length).to.be.lessThan(260);
    });

    it('a body that is no JSON', async () => {
      server.will(status(500, 'Traceback: /srv/app/secrets.py'));
      expect((await failure()).message).to.equal('Provider "p1" answered 500');
    });

    for (const body of [{ error: { message: 'm' } }, { error: 'm' }, { message: 'm' }, { detail: 'm' }]) {
      it(`more than the reason in ${JSON.stringify(body)}`, async () => {
        server.will(status(400, { ...body, debug: 'internal' }));
        expect((await failure()).message).to.equal('Provider "p1" answered 400: m');
      });
    }
  });
});
