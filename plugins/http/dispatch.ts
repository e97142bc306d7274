/** From a request to its route's handler and back: look up, check, handle, answer. */
import type { Context, Middleware } from 'koa';
import { compileSchema, invalidInput, notFound } from '../../kernel/index.ts';
import type { Check, Clock, JsonSchema, Logger, ReadonlyRegistry } from '../../kernel/index.ts';
import { sendData, sendRaw, sendStream } from './answer.ts';
import type { BodyReader } from './body.ts';
import { answerKind } from './contract.ts';
import type { EventStreamAnswer, RawAnswer, Route } from './contract.ts';
import { errorView } from './envelope.ts';
import type { EventStreams, StreamPlace } from './event-streams.ts';
import { readParams, readQuery } from './query.ts';
import { httpRequest } from './request.ts';
import type { CheckedInput } from './request.ts';
import { routeTable } from './route-table.ts';

/** What dispatching needs. */
export interface DispatchParts {
  readonly routes: ReadonlyRegistry<Route>;
  readonly readBody: BodyReader;
  readonly streams: EventStreams;
  readonly clock: Clock;
  readonly log: Logger;
  /** Hides secrets in the messages of errors. */
  readonly mask: (text: string) => string;
}

/**
 * The last middleware. Routes come and go while the server runs: the router is a cache over the registry and is built again by the first
 * request after a change. A handler runs, its stream included, inside the gate of the plugin that registered it.
 */
export function dispatch(parts: DispatchParts): Middleware {
  const { routes, log } = parts;
  let version: number | undefined;
  let table: Middleware;

  return async (ctx, next) => {
    if (version !== routes.version) {
      version = routes.version;
      table = routeTable(routes.list(), serving(parts), (route, reason) =>
        log.error('a route cannot be served', { route: route.name, owner: routes.ownerOf(route.name), reason }),
      );
    }
    await table(ctx, next);
  };
}

function serving(parts: DispatchParts): (ctx: Context, route: Route) => Promise<void> {
  const { routes, readBody } = parts;
  return async (ctx, route) => {
    const body = await readBody(ctx, route);
    const isServed = await routes.use(route.name, route.name, async (current) => {
      await serve(ctx, current, body, parts);
      return true;
    });
    if (isServed !== true) throw notFound('Resource not found');
  };
}

/** Checks with the schemas of the route as it is now: it may have been replaced while the body arrived. */
async function serve(ctx: Context, route: Route, body: unknown, { streams, clock, log, mask }: DispatchParts): Promise<void> {
  const request = httpRequest(ctx, checkedInput(ctx, route, body));
  let place: StreamPlace | undefined;
  try {
    if (route.streams === true && request.wantsStream) place = streams.reserve();
    const answer: unknown = await route.handle(request);
    const kind = answerKind(answer);
    if (kind === 'data') return sendData(ctx, answer, clock.now());
    if (kind === 'raw') return sendRaw(ctx, answer as RawAnswer);

    place ??= streams.reserve();
    await sendStream(ctx, answer as EventStreamAnswer, place, (error) => {
      const view = errorView(error, mask);
      if (!view.expected) log.error('a stream broke off', { requestId: ctx.state['requestId'], route: route.name, error });
      return view;
    });
  } finally {
    place?.release();
  }
}

function checkedInput(ctx: Context, route: Route, body: unknown): CheckedInput {
  return {
    params: checked(route, 'the path', readParams(ctx['params'] as Record<string, string>, route.params ?? {}), route.params),
    query: checked(route, 'the query', readQuery(ctx.querystring, route.query ?? {}), route.query),
    body: checked(route, 'the body', body, route.body),
  };
}

function checked(route: Route, subject: string, value: unknown, schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return value;
  const result = checkOf(route, schema)(value, { inPlace: true, subject });
  if (!result.ok) throw invalidInput(result.message);
  return result.value;
}

/** A schema that is not valid is the fault of the route, not of the client. */
function checkOf(route: Route, schema: JsonSchema): Check<unknown> {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new Error(`The route "${route.name}" has a schema that is not valid.`, { cause: error });
  }
}
