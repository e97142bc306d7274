/** What must be true of a session after any crash. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from '../harness/http-client.ts';
import { until } from '../harness/until.ts';

interface MessageView {
  readonly role: string;
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string }[];
}

/** The lines that `append_line` has written. */
export async function linesOf(home: string): Promise<readonly string[]> {
  const text = await readFile(join(home, 'lines.txt'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Waits until no run is in progress. */
export async function idle(url: string): Promise<void> {
  await until('all runs to end', async () => ((await request(url, 'GET', '/api/v1/runs')).data as unknown[]).length === 0, 30_000);
}

/** Each input stands once in the session, is answered once, and every call has exactly one result. */
export async function expectWholeTurns(url: string, sessionId: string, inputs: readonly string[]): Promise<void> {
  const { data } = await request(url, 'GET', `/api/v1/sessions/${encodeURIComponent(sessionId)}`);
  const messages = (data as { messages: readonly MessageView[] }).messages;
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect([...said].sort()).to.deep.equal([...inputs].sort());
  const answered = messages.filter(({ content }) => content.startsWith('done ')).map(({ content }) => content.slice('done '.length));
  expect(answered).to.deep.equal(said);
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect(open.shift()).to.equal(message.toolCallId);
    else expect(open).to.deep.equal([]);
    if (message.role === 'assistant') open = message.toolCalls.map(({ id }) => id);
  }
}

interface LlmRow {
  readonly traceId: string;
  readonly outcome: string;
}

/**
 * Every request that a model got has its row, each of its `answers` exactly once as a success, what a crash cut off as `interrupted`; and every
 * tool call has exactly one row.
 *
 * @param requests  how many the model has seen
 * @returns how many model calls were cut off
 */
export async function expectAudited(url: string, requests: number, answers: number, toolCalls: number): Promise<number> {
  const llm = (await request(url, 'GET', '/api/v1/audit/llm?limit=500')).data as readonly LlmRow[];
  const tools = (await request(url, 'GET', '/api/v1/audit/tool?limit=500')).data as readonly unknown[];
  const interrupted = llm.filter(({ outcome }) => outcome === 'interrupted').length;
  expect(llm.filter(({ outcome }) => outcome === 'success')).to.have.length(answers);
  expect(interrupted + answers, 'no other outcome').to.equal(llm.length);
  // A crash between the note that a call begins and its request leaves a row for a request that nobody got.
  expect(llm.length - requests, 'rows beyond the requests that the model saw').to.be.within(0, 1);
  expect(tools).to.have.length(toolCalls);
  const [traceId = ''] = new Set(llm.map((row) => row.traceId));
  const { data } = await request(url, 'GET', `/api/v1/audit/trace/${traceId}`);
  expect((data as { steps: readonly unknown[] }).steps).to.have.length(llm.length + toolCalls);
  return interrupted;
}

/** No effect happened twice. */
export async function expectNoRepeats(home: string): Promise<void> {
  const lines = await linesOf(home);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).to.deep.equal([]);
}
