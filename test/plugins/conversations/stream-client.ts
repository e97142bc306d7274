/** Reading an event stream while it runs. */
import { eventsFrom, type StreamEvent, type TestHost } from '../../harness/index.ts';
import { send } from '../../harness/http-client.ts';

/** A stream that is open. */
export interface OpenStream {
  /** The header `X-Trace-Id`. */
  readonly traceId: string;
  /** Whole events that have arrived. */
  events(): readonly StreamEvent[];
  /** Resolves with all events when the server has ended the stream. */
  ended(): Promise<readonly StreamEvent[]>;
  /** Goes away, as a client whose window was closed. */
  leave(): void;
}

/** Posts and resolves when the head of the answer is there. */
export async function openStream(
  host: TestHost,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const response = await send(host.url, 'POST', path, JSON.stringify(body), {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...headers,
  });
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('error', () => undefined);
  const end = new Promise((resolve) => response.once('close', resolve));
  const events = (): readonly StreamEvent[] => eventsFrom(text.slice(0, text.lastIndexOf('\n\n') + 2));
  return {
    traceId: String(response.headers['x-trace-id']),
    events,
    async ended() {
      await end;
      return events();
    },
    leave: () => void response.destroy(),
  };
}

/** All text that a stream's tokens carry. */
export const textOf = (events: readonly StreamEvent[]): string =>
  events
    .filter(({ event }) => event === 'token')
    .map(({ data }) => data.delta)
    .join('');

/** A promise that a test resolves by hand. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
