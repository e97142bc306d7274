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

/** No effect happened twice. */
export async function expectNoRepeats(home: string): Promise<void> {
  const lines = await linesOf(home);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).to.deep.equal([]);
}
