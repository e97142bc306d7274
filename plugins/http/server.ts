/** The middleware of the server, from the socket to `dispatch`. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Middleware } from 'koa';
import type { Clock, Logger } from '../../kernel/index.ts';
import { sendJson } from './answer.ts';
import { discardRest } from './body.ts';
import { errorBody, errorView } from './envelope.ts';
import { checkTarget } from './request.ts';

/** What the server is made of. */
export interface ServerParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Throws for a request that must not be answered because of where it comes from. */
  readonly guard: (request: IncomingMessage) => void;
  readonly dispatch: Middleware;
  /** Hides secrets in the messages of errors. */
  readonly mask: (text: string) => string;
}

/** Answers one request and resolves when its answer has been handed to the socket. Never rejects. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** Faults of a connection whose client has left; there is nobody to answer and nothing to repair. */
const CLIENT_LEFT: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Builds the handler. The order of the lines below is the order in which a request passes. */
export function requestHandler({ clock, log, guard, dispatch, mask }: ServerParts): RequestHandler {
  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (!CLIENT_LEFT.has(error.code)) log.error('an answer could not be sent', { error });
  });

  app.use(headers);
  app.use(errorsAsEnvelope(clock, log, mask));
  app.use(async (ctx, next) => {
    guard(ctx.req);
    checkTarget(ctx.req.url ?? '');
    await next();
  });
  // Authentication belongs here: behind the guard, in front of every route, and each route declares its `kind` for it.
  app.use(dispatch);

  const callback = app.callback();
  return async (request, response) => {
    await callback(request, response);
  };
}

const headers: Middleware = async (ctx, next) => {
  ctx.state['requestId'] = randomUUID();
  ctx.set(SECURITY_HEADERS);
  ctx.set('X-Request-Id', ctx.state['requestId']);
  await next();
};

function errorsAsEnvelope(clock: Clock, log: Logger, mask: ServerParts['mask']): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const view = errorView(error, mask);
      if (!view.expected) {
        log.error('a request failed', { requestId: ctx.state['requestId'], method: ctx.method, path: ctx.path, error });
      }
      ctx.status = view.status;
      sendJson(ctx, errorBody(view, clock.now()));
    } finally {
      discardRest(ctx.req);
    }
  };
}
