/** One stream of server-sent events. */
import type { ServerResponse } from 'node:http';
import type { Clock, Disposer } from '../../kernel/index.ts';
import type { ErrorView } from './envelope.ts';
import type { EventSink, ServerEvent } from './contract.ts';

/** What a stream needs to know. */
export interface StreamSettings {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** A client that has more than this unread when the next events are due is dropped. */
  readonly maxBufferedBytes: number;
  /** Told when that happens. */
  readonly onDropped: () => void;
}

/** Some readers split lines at these too; JSON may hold them as they are. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Events after which nothing follows. */
const TERMINAL: ReadonlySet<string> = new Set(['done', 'error']);

/**
 * Writes events to one response, whose headers it sends at once. Events of one turn of the event loop leave in one write. When nothing was
 * sent for a heartbeat, a comment keeps proxies from closing the connection. It is over when `end` was called, the client has left, or was
 * dropped for reading too slowly; from then on everything is ignored.
 */
export class EventStream implements EventSink {
  readonly #response: ServerResponse;
  readonly #settings: StreamSettings;
  #pending = '';
  #flush: NodeJS.Immediate | undefined;
  #lastId = 0;
  #lastEvent = '';
  #closed: boolean;
  #lastWriteAt: number;
  #stopHeartbeat: Disposer = () => {};

  constructor(response: ServerResponse, settings: StreamSettings) {
    this.#response = response;
    this.#settings = settings;
    this.#lastWriteAt = settings.clock.monotonic();
    this.#closed = response.destroyed;
    if (this.#closed) return;
    this.#stopHeartbeat = settings.clock.after(settings.heartbeatMs, () => this.#beat());
    response.once('close', () => this.#close());
    response.flushHeaders();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Throws only for data that JSON cannot hold. */
  send({ event, data }: ServerEvent): void {
    if (this.#closed) return;
    const line = singleLine(data);
    this.#lastId += 1;
    this.#lastEvent = event;
    this.#pending += `id: ${this.#lastId}\nevent: ${event.replace(/[\r\n]/g, ' ')}\ndata: ${line}\n\n`;
    this.#flush ??= setImmediate(() => this.#write());
  }

  /** Sends the terminal event of a failure, unless there has been a terminal event already. */
  fail(view: ErrorView): void {
    if (!TERMINAL.has(this.#lastEvent)) this.send({ event: 'error', data: { code: view.status, message: view.message } });
  }

  /** Sends what waits and ends the response. */
  end(): void {
    if (this.#closed) return;
    this.#write();
    this.#close();
    this.#response.end();
  }

  #write(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#closed || this.#pending === '') return;
    if (this.#response.writableLength > this.#settings.maxBufferedBytes) {
      this.#close();
      this.#response.destroy();
      this.#settings.onDropped();
      return;
    }
    this.#response.write(this.#pending);
    this.#pending = '';
    this.#lastWriteAt = this.#settings.clock.monotonic();
  }

  /** One timer that looks how long it has been silent, instead of one per event. */
  #beat(): void {
    const { clock, heartbeatMs } = this.#settings;
    const silentMs = clock.monotonic() - this.#lastWriteAt;
    if (silentMs >= heartbeatMs) {
      this.#pending += ': ping\n\n';
      this.#write();
    }
    if (this.#closed) return;
    this.#stopHeartbeat = clock.after(silentMs >= heartbeatMs ? heartbeatMs : heartbeatMs - silentMs, () => this.#beat());
  }

  #close(): void {
    this.#closed = true;
    clearImmediate(this.#flush);
    this.#pending = '';
    void this.#stopHeartbeat();
  }
}

function singleLine(data: unknown): string {
  const json = JSON.stringify(data) ?? 'null';
  return json.replace(OTHER_LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
