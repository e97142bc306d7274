/** A few threads for searches: each search has one to itself, the others wait. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FoundLine, LinePattern } from './line-matcher.ts';
import type { MatcherAnswer, MatcherRequest } from './matcher-thread.ts';

/** How many searches run at once. */
const MAX_THREADS = 2;
const MAX_HEAP_MB = 256;

/** A pattern that cannot be compiled; the message tells why. */
export class PatternProblem extends Error {
  override readonly name = 'PatternProblem';
}

/** Searches one file for the pattern of the search. Rejects with the signal's reason. */
export type Searcher = (bytes: Uint8Array, max: number) => Promise<readonly FoundLine[]>;

/** Threads for searches. They are started when they are needed and kept until `close`. */
export class MatcherThreads {
  readonly #idle: Thread[] = [];
  readonly #all = new Set<Thread>();
  readonly #waiting = new Set<() => void>();
  #busy = 0;

  /** Runs `use` with a thread that knows the pattern. Throws PatternProblem, the signal's reason, and what `use` throws. */
  async search<T>(pattern: LinePattern, signal: AbortSignal, use: (searcher: Searcher) => Promise<T>): Promise<T> {
    await this.#admitted(signal);
    const thread = this.#idle.pop() ?? this.#started();
    try {
      const compiled = await thread.ask({ pattern }, signal);
      if (!compiled.ok) throw new PatternProblem(compiled.message);
      return await use(async (bytes, max) => {
        const answer = await thread.ask({ bytes, max }, signal);
        return answer.ok ? answer.lines : [];
      });
    } finally {
      this.#released(thread);
    }
  }

  /** Ends all threads, and with them the searches that run. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  #started(): Thread {
    const thread = new Thread(() => this.#all.delete(thread));
    this.#all.add(thread);
    return thread;
  }

  /** A thread that is still at work on something that nobody waits for is ended; the next search gets a new one. */
  #released(thread: Thread): void {
    if (thread.isAtRest) this.#idle.push(thread);
    else void thread.end();
    const [next] = this.#waiting;
    if (next) next();
    else this.#busy -= 1;
  }

  /** Waits for a free place; one that becomes free goes to whoever has waited longest. */
  async #admitted(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#busy < MAX_THREADS) {
      this.#busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => (): void => {
        this.#waiting.delete(take);
        signal.removeEventListener('abort', leave);
        then();
      };
      const take = settle(resolve);
      const leave = settle(() => reject(signal.reason as Error));
      signal.addEventListener('abort', leave);
      this.#waiting.add(take);
    });
  }
}

/** One thread, which answers one request at a time. */
class Thread {
  readonly #worker = startedWorker();
  readonly #gone = new AbortController();
  #isAsked = false;

  /** @param onExit  called when it has ended, whatever the reason */
  constructor(onExit: () => void) {
    this.#worker.unref();
    this.#worker.on('error', (cause) => this.#gone.abort(new Error('the thread that searches broke down', { cause })));
    this.#worker.once('exit', () => {
      this.#gone.abort(new Error('the thread that searches was ended'));
      onExit();
    });
  }

  /** False while it works on a request, and for good when it has ended. */
  get isAtRest(): boolean {
    return !this.#isAsked && !this.#gone.signal.aborted;
  }

  /** Rejects with the signal's reason, or with why the thread ended. Bytes are copied: small ones are parts of a buffer that others use. */
  async ask(request: MatcherRequest, signal: AbortSignal): Promise<MatcherAnswer> {
    const over = AbortSignal.any([signal, this.#gone.signal]);
    over.throwIfAborted();
    this.#isAsked = true;
    this.#worker.ref();
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
      this.#worker.postMessage('bytes' in request ? { ...request, bytes: new Uint8Array(request.bytes) } : request);
      const [answer] = (await once(this.#worker, 'message', { signal: over })) as [MatcherAnswer];
      this.#isAsked = false;
      return answer;
    } catch (error) {
      over.throwIfAborted();
      throw error;
    } finally {
      this.#worker.unref();
    }
  }

  /** Ends the thread, whatever it is doing. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Threads do not inherit what lets a process run its own TypeScript: when this is the source, and not the built package, they set it up. */
function startedWorker(): Worker {
  const limits = { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } };
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./matcher-thread.js', import.meta.url), limits);
  const [loader, thread] = [import.meta.resolve('tsx/esm/api'), new URL('./matcher-thread.ts', import.meta.url).href].map((url) =>
    JSON.stringify(url),
  );
  return new Worker(`import(${loader}).then(({ register }) => { register(); return import(${thread}); })`, { eval: true, ...limits });
}
