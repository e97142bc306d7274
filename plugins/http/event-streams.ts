/** All streams of one server: how many there may be, and how they end together. */
import type { ServerResponse } from 'node:http';
import { OryxError } from '../../kernel/index.ts';
import { EventStream } from './event-stream.ts';
import type { StreamSettings } from './event-stream.ts';
import type { ErrorView } from './envelope.ts';

/** A place for one stream. It is given back by `release`, or by itself when the stream that took it is closed. */
export interface StreamPlace {
  /** Starts the stream on a response whose status and headers are set. */
  open(response: ServerResponse): EventStream;
  release(): void;
}

/** Counts open streams and refuses more than `maxStreams`. */
export class EventStreams {
  readonly #settings: StreamSettings;
  readonly #maxStreams: number;
  readonly #open = new Set<EventStream>();
  #taken = 0;

  constructor(settings: StreamSettings, maxStreams: number) {
    this.#settings = settings;
    this.#maxStreams = maxStreams;
  }

  /** Takes a place before anything is done that a refusal would have to undo. Throws ORYX_TOO_MANY. */
  reserve(): StreamPlace {
    if (this.#taken >= this.#maxStreams) {
      throw new OryxError(
        'ORYX_TOO_MANY',
        `There are ${this.#maxStreams} open streams already; close one or ask without text/event-stream.`,
      );
    }
    this.#taken += 1;
    let held = true;
    const release = (): void => {
      if (held) this.#taken -= 1;
      held = false;
    };
    return { release, open: (response) => this.#start(response, release) };
  }

  /** Ends every open stream with an `error` event; their runs go on unheard. */
  endAll(view: ErrorView): void {
    for (const stream of this.#open) {
      stream.fail(view);
      stream.end();
    }
  }

  #start(response: ServerResponse, release: () => void): EventStream {
    const stream = new EventStream(response, this.#settings);
    if (stream.closed) {
      release();
      return stream;
    }
    this.#open.add(stream);
    response.once('close', () => {
      this.#open.delete(stream);
      release();
    });
    return stream;
  }
}
