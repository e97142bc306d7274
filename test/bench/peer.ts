/** The parent's end of a measured process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Question, Usage } from './child.ts';

/** A process that is measured, or the model that it talks to. */
export interface Peer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** What its start has cost, until it could answer. */
  readonly start: Usage;
  usage(): Promise<Usage>;
  rows(): Promise<Readonly<Record<string, number>>>;
  /** Starts the profiler, or stops it and writes a .cpuprofile. */
  profile(file?: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a script of this folder in a process of its own; whoever starts it stops it.
 *
 * @param argument  handed to the script as JSON
 * @throws Error with what it wrote to standard error when it ends before it is ready
 */
export async function startPeer(name: 'model' | 'floor' | 'product', argument: unknown): Promise<Peer> {
  const script = `./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(argument)], {
    execArgv: process.execArgv.filter((option) => !option.includes('mocha')),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  const first = answerOf<{ readonly url: string; readonly start: Usage }>(child, errors);
  const { url, start } = await first;
  const ask = <T>(question: Question): Promise<T> => {
    const answer = answerOf<T>(child, errors);
    child.send(question);
    return answer;
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.send({ ask: 'stop' } satisfies Question);
    await gone;
  };
  return {
    name,
    url,
    start,
    usage: () => ask<Usage>({ ask: 'usage' }),
    rows: () => ask<Readonly<Record<string, number>>>({ ask: 'rows' }),
    profile: async (file) => void (await ask({ ask: 'profile', ...(file !== undefined && { file }) })),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** One question at a time: the next message is the answer. */
async function answerOf<T>(child: ChildProcess, errors: readonly string[]): Promise<T> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const gone = once(child, 'exit', { signal }).then((): never => {
      throw new Error(`a measured process ended early: ${errors.join('')}`);
    });
    const [message] = (await Promise.race([once(child, 'message', { signal }), gone])) as [{ readonly answer: T }];
    return message.answer;
  } finally {
    ended.abort();
  }
}
