/** HTTP as a client of OryxOS speaks it. */
import { type IncomingMessage, request as httpRequest } from 'node:http';

/** An answer of the API; `data` and `message` come from the envelope, `text` is the body as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly code: number | undefined;
  readonly message: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly data: any;
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into events of every shape
  readonly data: any;
}

/** A finished event stream, or a plain answer when the server did not stream. */
export interface StreamedAnswer extends Answer {
  readonly events: readonly StreamEvent[];
}

/** Sends one request; a body is sent as JSON, a string body as it is. Resolves with any status. */
export async function request(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await send(base, method, path, payload, {
    ...(payload !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  });
  return answerFrom(response, await textOf(response));
}

/** Posts and reads the event stream to its end. */
export async function stream(
  base: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamedAnswer> {
  const answer = await request(base, 'POST', path, body, { accept: 'text/event-stream', ...headers });
  return { ...answer, events: answer.text.includes('event: ') ? eventsFrom(answer.text) : [] };
}

/** The events of a stream's text; comments are left out. */
export function eventsFrom(text: string): readonly StreamEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('event: '))
    .map((block) => {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      return { id: field('id'), event: field('event') ?? '', data: JSON.parse(field('data') ?? 'null') as unknown };
    });
}

/** Opens a request and resolves when the head of the response is there. */
export function send(
  base: string,
  method: string,
  path: string,
  payload: string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const outgoing = httpRequest(
      {
        hostname,
        port,
        method,
        path,
        headers: { ...headers, ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }) },
      },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function answerFrom(response: IncomingMessage, text: string): Answer {
  const isJson = String(response.headers['content-type']).includes('json');
  const envelope = (isJson && text !== '' ? JSON.parse(text) : {}) as Partial<Answer>;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    code: envelope.code,
    message: envelope.message,
    data: envelope.data,
  };
}
