/** Puts what a handler returned on the wire. */
import type { Context } from 'koa';
import { successBody } from './envelope.ts';
import type { ErrorView } from './envelope.ts';
import type { EventStreamAnswer, RawAnswer } from './contract.ts';
import type { StreamPlace } from './event-streams.ts';

/** Sends `data` in the envelope. Throws for data that JSON cannot hold. */
export function sendData(ctx: Context, data: unknown, at: number): void {
  const body = successBody(data, at);
  ctx.status = 200;
  sendJson(ctx, body);
}

/** Sends a text that is JSON already, with the status that has been set. */
export function sendJson(ctx: Context, body: string): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = body;
}

/** Sends an answer outside the envelope. */
export function sendRaw(ctx: Context, { status, headers, body }: RawAnswer): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/**
 * Sends a stream and resolves when it is over, also when the client has left long before. A `run` that throws becomes the event `error`.
 *
 * @param viewOf  what a client sees of what was thrown
 */
export async function sendStream(
  ctx: Context,
  { run }: EventStreamAnswer,
  place: StreamPlace,
  viewOf: (error: unknown) => ErrorView,
): Promise<void> {
  ctx.respond = false;
  ctx.status = 200;
  ctx.set({ 'Content-Type': 'text/event-stream;charset=UTF-8', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' });
  const stream = place.open(ctx.res);
  try {
    if (ctx.method !== 'HEAD') await run(stream);
  } catch (error) {
    stream.fail(viewOf(error));
  } finally {
    stream.end();
  }
}
