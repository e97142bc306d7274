/** One request and its response over a pooled connection. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../../kernel/index.ts';

/** Bytes that may wait for a reader before the socket is paused. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** What is still read, and for how long, of a body whose reader has left, so that its connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;
const DISCARD_MS = 250;

/** The response's head, and its body as it comes. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What ends an exchange early. */
interface Limits {
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly signal: AbortSignal;
}

function namedError(name: 'AbortError' | 'TimeoutError', message: string, cause?: unknown): Error {
  const error = cause === undefined ? new Error(message) : new Error(message, { cause });
  error.name = name;
  return error;
}

/**
 * Takes undici's events and hands out an `Answer`. Owns its timer and its listener on the signal; both are gone when the exchange has
 * ended, for whatever reason. `onEnd` is called once, then.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #onEnd: () => void;
  readonly #host: string;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #disarm: () => void = () => {};
  #activeAt: number;
  #ended = false;
  #error: Error | undefined;
  #discarding = false;
  #discarded = 0;
  #wake: (() => void) | undefined;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: Error) => void;

  constructor(clock: Clock, host: string, limits: Limits, onEnd: () => void) {
    this.#clock = clock;
    this.#host = host;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#activeAt = clock.monotonic();
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#disarm = clock.after(limits.connectTimeoutMs, () => {
      this.#fail(namedError('TimeoutError', `no connection to ${host} within ${seconds(limits.connectTimeoutMs)}`));
    });
    limits.signal.addEventListener('abort', this.#onAbort);
    if (limits.signal.aborted) this.#onAbort();
  }

  /** True when there is nothing left to send: it was aborted before it began. */
  get ended(): boolean {
    return this.#ended;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) return controller.abort(this.#error ?? new Error('ended'));
    this.#disarm();
    this.#activeAt = this.#clock.monotonic();
    this.#watchSilence(this.#limits.readTimeoutMs);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#activeAt = this.#clock.monotonic();
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
    }
    this.#resolve({ status, headers: flat, body: { [Symbol.asyncIterator]: () => this.#chunks() } });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#discarding) {
      this.#discarded += chunk.length;
      if (this.#discarded > MAX_DISCARDED_BYTES) this.#fail(new Error('the body was not read'));
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) controller.pause();
    if (this.#waiting.length === 1) this.#wake?.();
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #onAbort = (): void => {
    this.#fail(namedError('AbortError', 'the request was aborted', this.#limits.signal.reason));
  };

  /** One timer for the whole body, set anew only when it fires: a stream of thousands of pieces must not cost as many timers. */
  #watchSilence(delayMs: number): void {
    this.#disarm = this.#clock.after(delayMs, () => {
      const silentMs = this.#waiting.length > 0 ? 0 : this.#clock.monotonic() - this.#activeAt;
      if (silentMs < this.#limits.readTimeoutMs) return this.#watchSilence(this.#limits.readTimeoutMs - silentMs);
      this.#fail(namedError('TimeoutError', `${this.#host} sent nothing for ${seconds(this.#limits.readTimeoutMs)}`));
    });
  }

  /** By hand: a generator takes several promises more for every piece. */
  #chunks(): AsyncIterator<Uint8Array> {
    const over = { done: true, value: undefined } as const;
    const pull = (): Promise<IteratorResult<Uint8Array>> => {
      if (this.#waiting.length > 0) return Promise.resolve({ done: false, value: this.#taken() });
      if (this.#error) return Promise.reject(this.#error);
      return this.#ended ? Promise.resolve(over) : this.#woken().then(pull);
    };
    const leave = async (): Promise<IteratorResult<Uint8Array>> => {
      await this.#discard();
      return over;
    };
    return { next: pull, return: leave };
  }

  /** All that waits, as one piece: a read from the socket often holds many small HTTP chunks. */
  #taken(): Uint8Array {
    const [first, ...others] = this.#waiting;
    const piece = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#waiting);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#activeAt = this.#clock.monotonic();
    if (this.#controller?.paused) this.#controller.resume();
    return piece;
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #discard(): Promise<void> {
    this.#waiting.length = 0;
    if (this.#ended) return;
    this.#discarding = true;
    this.#disarm();
    this.#disarm = this.#clock.after(DISCARD_MS, () => this.#fail(new Error('the body was not read')));
    this.#controller?.resume();
    while (!this.#ended) await this.#woken();
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    this.#error = error;
    this.#end();
    this.#controller?.abort(error);
    this.#reject(error);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#disarm();
    this.#limits.signal.removeEventListener('abort', this.#onAbort);
    this.#wake?.();
    this.#onEnd();
  }
}

const seconds = (ms: number): string => `${ms / 1000} s`;
