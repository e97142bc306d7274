/**
 * The floor: the least that a durable turn can cost in Node. A hand-written loop between node:http and node:http, without checks, hooks,
 * plugins or a framework; better-sqlite3 with a write-ahead log, `synchronous=FULL`, and everything that one turn of the event loop has queued in
 * one commit that the answer waits for. It speaks the two endpoints that are measured and keeps rows of the same kind as the product: the turn,
 * a step per model and tool call, and every message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { newTurnId } from '../../plugins/conversations/new-turn-id.ts';
import { answerParent } from './child.ts';
import { floorStore } from './floor-store.ts';
import { floorModel, type FloorMessage, type FloorReply } from './floor-model.ts';

const { home, modelUrl } = JSON.parse(process.argv[2] ?? '{}') as { home: string; modelUrl: string };
const store = floorStore(join(home, 'floor.db'));
const model = floorModel(modelUrl);

async function turn(sessionId: string, content: string, onText: (text: string) => void): Promise<string> {
  const id = newTurnId(Date.now());
  const user: FloorMessage = { role: 'user', content };
  await store.write(store.turnBegun(id, sessionId, content), store.message(id, sessionId, 0, user));
  const messages = [{ role: 'system', content: 'You are measured.' }, user];
  const said: FloorMessage[] = [];
  for (let call = 1; ; call += 1) {
    const reply: FloorReply = await model.ask([...messages, ...said], onText);
    said.push({ role: 'assistant', content: reply.content, ...(reply.calls.length > 0 && { tool_calls: reply.calls }) });
    const step = store.step(id, `llm/${call}`, reply);
    if (reply.calls.length === 0) {
      await store.write(
        step,
        ...said.map((message, index) => store.message(id, sessionId, index + 1, message)),
        store.sessionTouched(sessionId, said.length + 1),
        store.turnEnded(id, reply.content),
      );
      return reply.content;
    }
    await store.write(step);
    for (const { id: callId, function: fn } of reply.calls) {
      const { text } = JSON.parse(fn.arguments) as { text: string };
      await store.write(store.step(id, `tool/${call}`, { text }));
      said.push({ role: 'tool', tool_call_id: callId, content: text });
    }
  }
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { userId?: string; content?: string };
  const sessionId = /^\/api\/v1\/sessions\/([^/]+)\/messages$/.exec(request.url ?? '')?.[1];
  if (sessionId === undefined) {
    const opened = `web:${body.userId}:bench`;
    await store.write(store.sessionOpened(opened));
    return sendJson(response, { sessionId: opened });
  }
  if (request.headers.accept !== 'text/event-stream') {
    return sendJson(response, { reply: await turn(decodeURIComponent(sessionId), body.content ?? '', () => undefined) });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const reply = await turn(decodeURIComponent(sessionId), body.content ?? '', (delta) => {
    response.write(`event: token\ndata: ${JSON.stringify({ delta })}\n\n`);
  });
  response.end(`event: done\ndata: ${JSON.stringify({ reply })}\n\n`);
}

function sendJson(response: ServerResponse, data: unknown): void {
  const body = JSON.stringify({ code: 0, message: 'success', data });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const server = createServer((request, response) => void handle(request, response));
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  answerParent({
    url: `http://127.0.0.1:${port}`,
    rows: () => Promise.resolve(store.rows()),
    async close() {
      model.close();
      await new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
      store.close();
    },
  });
});
