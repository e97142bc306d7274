import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { definePlugin, defineTool, fail, ok } from '../../../kernel/index.ts';
import { MAX_BYTES, cappedText } from '../../../plugins/audit/capped-text.ts';
import type { TestHost } from '../../harness/index.ts';
import { agentFile, startHost, until } from '../../harness/index.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Answers or fails with a text of a given length. */
const say = definePlugin({
  name: 'say',
  setup(ctx) {
    const input = {
      type: 'object',
      properties: { text: { type: 'string' }, times: { type: 'integer' }, fail: { type: 'boolean' } },
      required: ['text'],
      additionalProperties: false,
    } as const;
    ctx.register(
      'tool',
      defineTool({
        name: 'say',
        description: 'Say.',
        input,
        execute: async ({ text, times = 1, fail: failing = false }) => (failing ? fail(text.repeat(times)) : ok(text.repeat(times))),
      }),
    );
  },
});

describe('the audit record', function () {
  this.timeout(20_000);
  let host: TestHost;
  beforeEach(async () => {
    const agents = { t: agentFile('t', 'tools: [say, read_file]\nsettings: {on_fatal_tool_error: feedback}') };
    host = await startHost({ agents, plugins: [say] });
  });
  afterEach(() => host.stop());

  it('has one row per model call and one per tool call, with everything that is known', async () => {
    host.model.will({
      calls: [{ name: 'say', arguments: '{"text": "hello"}', id: 'c1' }],
      usage: { promptTokens: 7, completionTokens: 3, totalTokens: 10, cachedTokens: 5 },
    });
    host.model.willSay('done');
    const { turnId } = await host.tell('web:default:t', 't', 'go');
    const llm = await host.rows('llm_calls');
    const shared = { session_id: 'web:default:t', profile_name: 't', trace_id: turnId };
    expect(llm).to.have.length(2);
    expect(llm[0]).to.include({
      ...shared,
      provider: 'scripted',
      model: 'test-model',
      call: 1,
      attempt: 1,
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      cached_tokens: 5,
      reasoning_tokens: null,
      cost_micros: null,
      outcome: 'success',
      success: 1,
      error_message: null,
      seq: 1,
    });
    expect(llm[1]).to.include({ ...shared, call: 2, seq: 3, prompt_tokens: null, completion_tokens: null, total_tokens: null });
    const [tool, ...others] = await host.rows('tool_invocations');
    expect(others).to.deep.equal([]);
    expect(tool).to.include({
      ...shared,
      seq: 2,
      call_id: 'c1',
      tool_name: 'say',
      input_json: '{"text": "hello"}',
      result_json: 'hello',
      success: 1,
      error_message: null,
      blocked_by: null,
      input_sha256: null,
      result_sha256: null,
    });
    for (const row of [...llm, tool]) expect(Number.isInteger(row?.['duration_ms'])).to.equal(true);
  });

  it('has a row for calls that fail, are unknown, refused or not valid, without a result', async () => {
    host.model.will({
      calls: [
        { name: 'say', arguments: { text: 'broken', fail: true } },
        { name: 'rm_rf', arguments: { path: '/' } },
        { name: 'say', arguments: '{bad' },
        { name: 'say', arguments: { volume: 11 } },
        { name: 'read_file', arguments: { path: '/etc/passwd' } },
        { name: 'current_time' },
        { name: '__proto__' },
      ],
    });
    await host.say('t', 'go');
    // Neighbours that only read run side by side and end in any order.
    const rows = [...(await host.rows('tool_invocations'))].sort((a, b) => String(a['call_id']).localeCompare(String(b['call_id'])));
    expect(rows.map((row) => [row['tool_name'], row['success'], row['blocked_by'], row['result_json']])).to.deep.equal([
      ['say', 0, null, null],
      ['rm_rf', 0, null, null],
      ['say', 0, null, null],
      ['say', 0, null, null],
      ['read_file', 0, 'sandbox', null],
      ['current_time', 0, 'undeclared', null],
      ['__proto__', 0, null, null],
    ]);
    expect(rows.map((row) => row['error_message'])).to.include.members(['broken', 'Unknown tool: rm_rf']);
    expect(rows[2]).to.include({ input_json: '{bad' });
    for (const row of rows) expect(row['error_message']).to.be.a('string').and.not.equal('');
  });

  it('has a row for every attempt at a model call, and for a run that fails', async () => {
    host.model.willFail({ message: 'busy', retryable: true, retryAfterMs: 0 });
    host.model.willSay('there');
    const first = await host.say('t', 'go');
    expect(first.reply).to.equal('there');
    host.model.willFail({ message: 'no such model', status: 404 });
    const second = await host.say('t', 'go');
    expect(second.status).to.equal('failed');
    const rows = await host.rows('llm_calls');
    expect(rows.map((row) => [row['trace_id'], row['call'], row['attempt'], row['outcome'], row['error_message']])).to.deep.equal([
      [first.turnId, 1, 1, 'failed', 'busy'],
      [first.turnId, 1, 2, 'success', null],
      [second.turnId, 1, 1, 'failed', 'no such model'],
    ]);
  });

  it('is written for a run whose client has left', async () => {
    let answer = (): void => undefined;
    host.model.will({ content: 'late', after: new Promise<void>((resolve) => (answer = resolve)) });
    const leave = new AbortController();
    const gone = fetch(`${host.url}/api/v1/agents/t/invoke`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'go' }),
      signal: leave.signal,
    });
    await until('the model is asked', () => host.model.requests.length === 1);
    leave.abort();
    await gone.then(
      (response) => response.text().catch(() => ''),
      () => '',
    );
    answer();
    await until('the row', async () => (await host.rows('llm_calls')).length === 1);
    expect((await host.rows('llm_calls'))[0]).to.include({ outcome: 'success', profile_name: 't' });
  });

  it('keeps 64 KiB of a long value, and hash and size of the whole', async () => {
    const long = '€'.repeat(30_000);
    host.model.willCall('say', { text: '€', times: 30_000 });
    host.model.willCall('say', { text: long, fail: true });
    host.model.willSay('done');
    await host.say('t', 'go');
    const [result, failure] = await host.rows('tool_invocations');
    const cut = '€'.repeat(Math.floor(MAX_BYTES / 3));
    expect(result).to.include({
      input_sha256: null,
      input_bytes: null,
      result_sha256: sha256(long),
      result_bytes: 90_000,
      result_json: cut,
    });
    const input = JSON.stringify({ text: long, fail: true });
    expect(failure).to.include({ input_sha256: sha256(input), input_bytes: Buffer.byteLength(input) });
    expect(failure).to.include({
      error_sha256: sha256(long),
      error_bytes: 90_000,
      error_message: cut,
      result_json: null,
      result_sha256: null,
    });
    expect(Buffer.byteLength(failure?.['input_json'] as string)).to.be.within(MAX_BYTES - 3, MAX_BYTES);
  });
});

describe('a capped text', () => {
  it('is left alone up to 64 KiB', async () => {
    for (const text of ['', 'a'.repeat(MAX_BYTES), '€'.repeat(21_845), '\u0000'])
      expect(await cappedText(text)).to.deep.equal({ text, bytes: null, sha256: null });
  });

  it('is cut before a character that does not fit', async () => {
    for (const character of ['a', 'é', '€', '😀']) {
      for (let shift = 0; shift < 4; shift += 1) {
        const whole = 'x'.repeat(shift + 1) + character.repeat(MAX_BYTES);
        const { text, bytes, sha256: hash } = await cappedText(whole);
        expect(whole.startsWith(text ?? '-')).to.equal(true);
        expect(Buffer.byteLength(text ?? '')).to.be.within(MAX_BYTES - 3, MAX_BYTES);
        expect([bytes, hash]).to.deep.equal([Buffer.byteLength(whole), sha256(whole)]);
      }
    }
  });

  it('hashes a very long text without holding up the event loop', async function () {
    this.timeout(20_000);
    const whole = 'y'.repeat(20 * 1024 * 1024);
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const { sha256: hash } = await cappedText(whole);
    counting = false;
    expect(hash).to.equal(sha256(whole));
    expect(turns).to.be.at.least(15);
  });
});
