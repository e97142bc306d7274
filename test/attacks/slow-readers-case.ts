/** Clients that hardly read, while very much is said to each of them. */
import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, send } from '../harness/http-client.ts';
import { until } from '../harness/index.ts';
import { chunk, event, type ModelReply, startModelServer } from '../harness/model-server.ts';
import type { RunCase } from './corpus.ts';
import { holds } from './holds.ts';
import { makeHome, startProgram } from './program.ts';

const STREAM = { accept: 'text/event-stream', 'content-type': 'application/json' };
const PIECE = 'x'.repeat(50);
const BATCH = 1_000;
const MAX_GROWTH_MIB = 500;

/** How much memory a process has, in MiB. */
const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** Streams so many pieces, as fast as they are taken. */
const talks =
  (tokens: number): ModelReply =>
  async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const batch = event(chunk({ content: PIECE })).repeat(BATCH);
    for (let said = 0; said < tokens; said += BATCH) if (!response.write(batch)) await once(response, 'drain');
    response.end(event(chunk({}, 'stop')) + event('[DONE]'));
  };

/** The server is a process of its own, so that its memory is not that of the clients and the model. */
export const slowReaders = (clients: number, tokens: number): RunCase =>
  holds(async () => {
    await using model = await startModelServer();
    model.fallback = talks(tokens);
    await using home = await makeHome(model.baseUrl, []);
    await using program = await startProgram(home);
    const { url, child } = program;
    const users = Array.from({ length: clients }, (_, number) => `u${number}`);
    for (const userId of users) await request(url, 'POST', '/api/v1/sessions', { profile: 'a1', userId });
    const before = memoryOf(child.pid);
    let peak = before;
    const body = JSON.stringify({ content: 'x' });
    const responses = await Promise.all(users.map((user) => send(url, 'POST', `/api/v1/sessions/web:${user}:a1/messages`, body, STREAM)));
    const closed = responses.map((response) => new Promise((resolve) => response.on('error', () => undefined).once('close', resolve)));
    const reading = setInterval(() => {
      for (const response of responses) response.read(100);
    }, 1_000);
    const idle = async (): Promise<boolean> => {
      expect((await request(url, 'GET', '/api/v1/health')).status).to.equal(200);
      peak = Math.max(peak, memoryOf(child.pid));
      await new Promise((resolve) => setTimeout(resolve, 50));
      return ((await request(url, 'GET', '/api/v1/runs')).data as readonly unknown[]).length === 0;
    };
    try {
      await until('all runs to end', idle, 300_000);
    } finally {
      clearInterval(reading);
      for (const response of responses) response.resume();
    }
    await Promise.all(closed);
    expect(responses.map(({ complete }) => complete).filter(Boolean), 'clients that got it all').to.deep.equal([]);
    expect(peak - before, 'MiB more').to.be.below(MAX_GROWTH_MIB);
    for (const user of users) {
      const { data } = await request(url, 'GET', `/api/v1/sessions/web:${user}:a1`);
      const contents = (data as { readonly messages: readonly { readonly content: string }[] }).messages.map(
        ({ content }) => content.length,
      );
      expect(contents, 'stored whole').to.deep.equal([1, PIECE.length * tokens]);
    }
  });
