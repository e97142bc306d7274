/** A request as handlers see it. */
import type { Context } from 'koa';
import { invalidInput } from '../../kernel/index.ts';
import type { HttpRequest } from './contract.ts';

/** The parts of a request that have passed a route's schemas. */
export type CheckedInput = Pick<HttpRequest, 'params' | 'query' | 'body'>;

/** Joins checked input with what the connection knows. */
export const httpRequest = (ctx: Context, input: CheckedInput): HttpRequest => new CheckedRequest(ctx, input);

/** `header` and `setHeader` can be taken out of it. */
class CheckedRequest implements HttpRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly method: string;
  readonly path: string;
  readonly wantsStream: boolean;
  readonly #ctx: Context;
  #signal: AbortSignal | undefined;

  constructor(ctx: Context, { params, query, body }: CheckedInput) {
    this.params = params;
    this.query = query;
    this.body = body;
    this.method = ctx.method;
    this.path = ctx.path;
    this.wantsStream = ctx.method !== 'HEAD' && acceptsEventStream(ctx.get('Accept'));
    this.#ctx = ctx;
  }

  readonly header = (name: string): string | undefined => {
    const value = this.#ctx.req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  };

  readonly setHeader = (name: string, value: string): void => this.#ctx.set(name, value);

  get rawBody(): string {
    const raw: unknown = this.#ctx.request.rawBody;
    return typeof raw === 'string' ? raw : '';
  }

  get signal(): AbortSignal {
    return (this.#signal ??= goneSignal(this.#ctx));
  }
}

/**
 * Refuses request targets that are not a plain path with a query. An absolute form names a host of its own, which would go past the check
 * of `Host`; broken percent-encoding and control characters have no meaning in any of our paths. Throws ORYX_INVALID_INPUT.
 */
export function checkTarget(target: string): void {
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(target)) throw invalidInput('The request target must be a path, percent-encoded where needed.');
  const [path = ''] = target.split('?', 1);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(decoded(path))) throw invalidInput('The path holds a control character.');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) throw invalidInput('The path has invalid percent-encoding.');
    throw error;
  }
}

/** Only when it is named: a wildcard asks for nothing in particular. */
function acceptsEventStream(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function goneSignal({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => {
    if (!res.writableFinished) gone.abort(new Error('The client has gone.'));
  };
  if (res.destroyed) abort();
  else res.once('close', abort);
  return gone.signal;
}
