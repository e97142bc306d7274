/** The lines that a person types, or that a pipe holds. */
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from './cli-host.ts';

/** Where lines come from and who hears of them first. */
export interface ChatInputOptions {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  /** Earlier lines for the arrow keys, newest first. */
  readonly history: readonly string[];
  /** Sees each line before it is queued; true when it has dealt with it. */
  readonly intercept: (line: string) => boolean;
  /** Ctrl-C while no line is awaited, or while an answer is. */
  readonly onInterrupt: () => void;
}

interface Waiter {
  readonly prompt: string;
  /** Ctrl-C goes to `onInterrupt` instead of to the line. */
  readonly isAnswer: boolean;
  readonly resolve: (line: string | undefined) => void;
}

/**
 * Lines in order. What is typed while nobody waits is kept for later and not shown, so that it cannot mix with an answer being printed.
 * On a terminal Ctrl-C empties the line; on an empty line it says how to leave, and the second time in a row it leaves.
 */
export class ChatInput {
  readonly #lines: Interface;
  readonly #stdout: OutputStream;
  readonly #isTerminal: boolean;
  readonly #onInterrupt: () => void;
  readonly #queue: string[] = [];
  #waiter: Waiter | undefined;
  #ended = false;
  #isLeaving = false;

  constructor({ stdin, stdout, history, intercept, onInterrupt }: ChatInputOptions) {
    this.#stdout = stdout;
    this.#isTerminal = stdin.isTTY === true && stdout.isTTY === true;
    this.#onInterrupt = onInterrupt;
    this.#lines = createInterface({
      input: stdin,
      output: this.#whileWaiting(),
      terminal: this.#isTerminal,
      history: [...history],
      historySize: 200,
      removeHistoryDuplicates: true,
    });
    this.#lines.on('line', (line) => {
      this.#isLeaving = false;
      if (!intercept(line)) this.#deliver(line);
    });
    this.#lines.on('close', () => this.#end());
    this.#lines.on('SIGINT', () => this.interrupt());
  }

  /** The next line; undefined at the end of the input. Only one caller waits at a time. */
  next(prompt: string): Promise<string | undefined> {
    return this.#wait(prompt, false);
  }

  /** Like `next`, for an answer to a question: undefined too when `signal` aborts. */
  async answer(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const giveUp = (): void => {
      if (this.#isTerminal && this.#waiter !== undefined) this.#stdout.write('\n');
      this.#settle(undefined);
    };
    signal.addEventListener('abort', giveUp);
    try {
      return signal.aborted ? undefined : await this.#wait(prompt, true);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** True once no further line can come. */
  get ended(): boolean {
    return this.#ended && this.#queue.length === 0;
  }

  /** What Ctrl-C does; also called for a SIGINT that came from outside. */
  interrupt(): void {
    if (this.#waiter === undefined || this.#waiter.isAnswer) {
      this.#onInterrupt();
      return;
    }
    const hadText = this.#lines.line !== '';
    if (!hadText && this.#isLeaving) {
      this.close();
      return;
    }
    this.#isLeaving = !hadText;
    if (!this.#isTerminal) {
      this.close();
      return;
    }
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#stdout.write(hadText ? '\n' : '\n(Ctrl-C again, Ctrl-D or /quit leaves.)\n');
    this.#lines.prompt();
  }

  /** Ends the input; lines that wait are dropped. */
  close(): void {
    this.#queue.length = 0;
    this.#lines.close();
  }

  #wait(prompt: string, isAnswer: boolean): Promise<string | undefined> {
    // What a person typed ahead was meant as a message, not as the answer to a question that they had not seen.
    const queued = isAnswer && this.#isTerminal ? undefined : this.#queue.shift();
    if (queued !== undefined) {
      if (this.#isTerminal) this.#stdout.write(`${prompt}${queued}\n`);
      return Promise.resolve(queued);
    }
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiter = { prompt, isAnswer, resolve };
      if (!this.#isTerminal) return;
      this.#lines.setPrompt(prompt);
      this.#lines.prompt(true);
    });
  }

  #deliver(line: string): void {
    if (this.#waiter === undefined) this.#queue.push(line);
    else this.#settle(line);
  }

  #end(): void {
    this.#ended = true;
    if (this.#isTerminal && this.#waiter !== undefined) this.#stdout.write('\n');
    this.#settle(undefined);
  }

  #settle(line: string | undefined): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(line);
  }

  /** Readline's own output reaches the terminal only while a line is awaited. */
  #whileWaiting(): OutputStream {
    const stdout = this.#stdout;
    const filter = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        if (this.#waiter !== undefined) stdout.write(chunk);
        done();
      },
    });
    Object.defineProperty(filter, 'columns', { get: () => stdout.columns });
    Object.defineProperty(filter, 'isTTY', { value: stdout.isTTY === true });
    return filter;
  }
}
