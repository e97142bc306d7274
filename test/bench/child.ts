/** The child's end of a measured process: says where it is, and answers its parent. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** CPU time of the whole process, its other threads included, and resident memory. */
export interface Usage {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** What a child is asked for. `profile` without a file starts the profiler, with one it stops it and writes there. */
export type Question =
  | { readonly ask: 'usage' }
  | { readonly ask: 'rows' }
  | { readonly ask: 'profile'; readonly file?: string }
  | { readonly ask: 'stop' };

/** What a measured process is made of. */
export interface ChildParts {
  readonly url: string;
  /** How many rows each table holds; `{}` for a process without a database. */
  rows(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** The process's use of the machine up to now. */
export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicros: user + system, rssBytes: process.memoryUsage.rss() };
}

/** Tells the parent that everything is ready, with what the start has cost, and answers its questions until it says stop. */
export function answerParent(parts: ChildParts): void {
  const inspector = new Session();
  const answers: { readonly [A in Question['ask']]: (question: Extract<Question, { ask: A }>) => unknown } = {
    usage,
    rows: () => parts.rows(),
    async profile({ file }) {
      if (file === undefined) {
        inspector.connect();
        await inspector.post('Profiler.enable');
        await inspector.post('Profiler.start');
        return true;
      }
      const { profile } = await inspector.post('Profiler.stop');
      writeFileSync(file, JSON.stringify(profile));
      inspector.disconnect();
      return true;
    },
    async stop() {
      await parts.close();
      return true;
    },
  };
  process.on('message', (question: Question) => {
    void Promise.resolve(answers[question.ask](question as never)).then((answer) =>
      process.send?.({ answer }, () => question.ask === 'stop' && process.exit(0)),
    );
  });
  process.on('disconnect', () => process.exit(1));
  process.send?.({ answer: { url: parts.url, start: usage() } });
}
