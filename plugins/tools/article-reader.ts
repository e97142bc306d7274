/** Finds the article in a page, in a thread of its own: a page decides how long that takes. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/index.ts';
import { HIDDEN_STYLE } from './hidden-style.ts';

/** What a page is about. */
export interface Article {
  readonly title: string;
  /** Markdown with absolute links. */
  readonly content: string;
}

const TIME_MS = 5_000;
const MEMORY_MB = 256;
/** Threads at a time; others wait. */
const MAX_THREADS = 2;

/**
 * Runs in the thread. As text, because a thread does not inherit what makes a process read TypeScript. Nothing in it may use the network:
 * the library would ask other sites for some pages.
 */
const READ = `
const { parentPort, workerData } = require('node:worker_threads');
globalThis.fetch = () => Promise.reject(new Error('no network here'));
(async () => {
  const { parseHTML } = await import(workerData.linkedom);
  const { Defuddle } = await import(workerData.defuddle);
  const { document } = parseHTML(workerData.html);
  for (const element of document.querySelectorAll(workerData.unseen)) element.remove();
  const hidden = new RegExp(workerData.hiddenStyle, 'i');
  for (const element of document.querySelectorAll('[style]')) if (hidden.test(element.getAttribute('style'))) element.remove();
  const options = { markdown: true, useAsync: false, removeImages: true };
  const { title, content } = await Defuddle(document, workerData.url, options);
  parentPort.postMessage({ title: String(title ?? ''), content: String(content ?? '') });
})();
`;

/** Active or never shown. Scripts stay: the library drops them itself, after it has looked for what some of them say about the page. */
const UNSEEN = 'svg, iframe, object, embed, canvas, template, noscript, [hidden], [aria-hidden="true"]';

/** Reads articles until it is closed. */
export class ArticleReader {
  readonly #clock: Clock;
  readonly #threads = new Set<Worker>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The article of a page; undefined when none is found, the page is too much work (5 s, 256 MB), or `signal` aborts. */
  async read(html: string, url: string, signal: AbortSignal): Promise<Article | undefined> {
    if (this.#busy >= MAX_THREADS) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#busy += 1;
    try {
      return signal.aborted ? undefined : await this.#inThread(html, url, signal);
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Ends the threads that run. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  #inThread(html: string, url: string, signal: AbortSignal): Promise<Article | undefined> {
    const libraries = { linkedom: placeOf('linkedom'), defuddle: placeOf('defuddle/node') };
    const thread = new Worker(READ, {
      eval: true,
      workerData: { html, url, unseen: UNSEEN, hiddenStyle: HIDDEN_STYLE.source, ...libraries },
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 32 },
    });
    this.#threads.add(thread);
    const stop = (): void => void thread.terminate();
    const late = this.#clock.after(TIME_MS, stop);
    signal.addEventListener('abort', stop, { once: true });
    return new Promise<Article | undefined>((resolve) => {
      thread.once('message', resolve);
      // A page that the library cannot digest is a page without an article.
      thread.once('error', () => resolve(undefined));
      thread.once('exit', () => resolve(undefined));
    }).finally(async () => {
      late();
      signal.removeEventListener('abort', stop);
      await thread.terminate();
      this.#threads.delete(thread);
    });
  }
}

const placeOf = (name: string): string => import.meta.resolve(name);
