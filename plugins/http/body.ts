/** Request bodies: one JSON object, checked for type, size, encoding and depth before anybody sees it. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { HttpMethodEnum, koaBody } from 'koa-body';
import { OryxError, invalidInput } from '../../kernel/index.ts';
import type { Route } from './contract.ts';

const DEFAULT_MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;

/** Reads the body that a route asks for. */
export type BodyReader = (ctx: Context, route: Route) => Promise<unknown>;

/**
 * Builds a reader. It resolves with the parsed object, `{}` for a route without a body or an optional one that is missing.
 *
 * Rejects with ORYX_UNSUPPORTED_TYPE (not JSON, not UTF-8, compressed), ORYX_TOO_LARGE, or ORYX_INVALID_INPUT (missing, malformed, not an
 * object, too deep, forbidden key). What it leaves unread is for `discardRest`.
 */
export function bodyReader(): BodyReader {
  const parsers = new Map<number, Middleware>();
  const parserFor = (maxBytes: number): Middleware => {
    const known = parsers.get(maxBytes);
    if (known !== undefined) return known;
    const parser = koaBody({
      jsonLimit: maxBytes,
      jsonTypes: ['application/json'],
      includeUnparsed: true,
      text: false,
      urlencoded: false,
      parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE, HttpMethodEnum.GET],
    });
    parsers.set(maxBytes, parser);
    return parser;
  };

  return async (ctx, route) => {
    const isPresent = hasBody(ctx.req);
    if (isPresent) requireJson(ctx.req);
    if (route.body === undefined) return {};
    if (!isPresent) return missing(route);

    const maxBytes = route.maxBodyBytes ?? DEFAULT_MAX_BYTES;
    const encoding = utf8Check(ctx.req);
    try {
      await parserFor(maxBytes)(ctx, async () => {});
    } catch (error) {
      throw translated(error, maxBytes);
    } finally {
      encoding.stop();
    }
    if (ctx.request.rawBody === '') return missing(route);
    if (!encoding.isValid()) throw invalidInput('The request body is not valid UTF-8.');
    return checked(ctx.request.body);
  };
}

/**
 * Reads and throws away what a client still sends, so that it can see an answer that came early; cuts the connection when that is more than
 * 16 MB. Memory stays flat; the server's request timeout bounds the time.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let leftBytes = MAX_DISCARDED_BYTES;
  request.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) request.destroy();
  });
  request.resume();
}

/** RFC 9112, 6.3: a request has a body when it says so by one of two headers. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** A page of another site can send text/plain or a form without asking; JSON it cannot. So the type is a rule, not a hint. */
function requireJson({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') throw unsupported('Compressed request bodies are not accepted; send the body as it is.');

  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') throw unsupported('The request body must have the content type application/json.');
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.replace(/^charset="?([^"]*)"?$/, '$1');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') throw unsupported('The request body must be encoded in UTF-8.');
}

function missing(route: Route): unknown {
  if (route.bodyOptional === true) return {};
  throw invalidInput('The request body is missing; a JSON object is expected.');
}

function checked(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidInput('The request body must be a JSON object.');
  if (isDeeperThan(body, MAX_DEPTH)) throw invalidInput(`The request body is nested deeper than ${MAX_DEPTH} levels.`);
  return body;
}

/** By levels instead of by recursion: the depth is the client's choice. */
function isDeeperThan(body: object, maxDepth: number): boolean {
  let level: readonly unknown[] = [body];
  for (let depth = 0; depth < maxDepth; depth += 1) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    if (level.length === 0) return false;
  }
  return level.some((value) => typeof value === 'object' && value !== null);
}

/** The parser replaces broken bytes silently; a terminal that sends GBK would store garbage. So the bytes are looked at as well. */
function utf8Check(request: IncomingMessage): { stop(): void; isValid(): boolean } {
  const chunks: Buffer[] = [];
  const keep = (chunk: Buffer): void => void chunks.push(chunk);
  request.on('data', keep);
  return {
    stop: () => void request.off('data', keep),
    isValid: () => isUtf8(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
  };
}

function translated(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof Error)) return error;
  const { status } = error as { readonly status?: unknown };
  if (status === 413) return new OryxError('ORYX_TOO_LARGE', `The request body is larger than ${maxBytes} bytes.`, { cause: error });
  if (status !== 400) return error;
  return new OryxError('ORYX_INVALID_INPUT', malformedText(error), { cause: error });
}

/** The engine's own text quotes the body, which may hold a secret; only the position is taken from it. */
function malformedText(error: Error): string {
  if (!(error instanceof SyntaxError)) return 'The request body ended early.';
  if (error.message.includes('prototype property')) return 'The request body holds the forbidden key "__proto__".';
  if (error.message.includes('only supports object')) return 'The request body must be a JSON object.';
  const position = /at position \d+/.exec(error.message)?.[0];
  return position === undefined ? 'The request body is not valid JSON.' : `The request body is not valid JSON (${position}).`;
}

const unsupported = (message: string): OryxError => new OryxError('ORYX_UNSUPPORTED_TYPE', message);
