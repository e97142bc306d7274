/** A host whose agents name several models, each with a server of its own. */
import type { LogLine } from '../../../kernel/index.ts';
import { definePlugin } from '../../../kernel/index.ts';
import { type FakeClock, fakeClock, type HostOptions, scriptedModel, startHost, type TestHost, until } from '../../harness/index.ts';
import { type ModelReply, type ModelServer, says, startModelServer } from '../../harness/model-server.ts';

/** Providers p1, p2, p3 with a server each, and two that cannot be reached. */
export interface Chain extends AsyncDisposable {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly servers: readonly ModelServer[];
  readonly lines: readonly LogLine[];
  /** Sets how every server answers from now on, p1 first; missing ones say "answer of p<n>". */
  answering(...replies: readonly (ModelReply | undefined)[]): void;
  /** How often each server was asked since `answering`, or the last time this was called. */
  asked(): readonly number[];
  /** Waits for work while time goes on in steps. */
  during<T>(work: Promise<T>, stepMs: number): Promise<T>;
  /** Provider and outcome of the recorded attempts of a run, in order. */
  attempts(traceId: string): Promise<readonly string[]>;
}

/** An AGENT.md whose candidates are given as "provider" or "provider/model". */
export function chained(name: string, candidates: readonly string[], extra = 'tools: []'): string {
  const [own, ...others] = candidates.map((candidate) => {
    const [provider = '', model = 'm'] = candidate.split('/');
    return `{name: ${provider}, model: ${model}}`;
  });
  const provider = `${own?.slice(0, -1)}, fallback: [${others.join(', ')}]}`;
  return `---\nname: ${name}\nprovider: ${provider}\n${extra}\n---\n\nBe kind.\n`;
}

/** Starts servers and host. Release it with `await using`, or its parts. */
export async function startChain(options: HostOptions & { readonly agents: Readonly<Record<string, string>> }): Promise<Chain> {
  const clock = fakeClock();
  const servers = [await startModelServer(), await startModelServer(), await startModelServer()];
  const lines: LogLine[] = [];
  const listening = definePlugin({
    name: 'listening',
    setup: (ctx) => void ctx.register('logSink', { name: 'lines', write: (line) => void lines.push(line) }),
  });
  const host = await startHost({
    clock,
    // Out of the way: the real adapter serves every provider here.
    model: scriptedModel('unused'),
    ...options,
    plugins: [listening, ...(options.plugins ?? [])],
    config: {
      'oryxos.providers': [
        ...servers.map(({ baseUrl }, index) => ({ name: `p${index + 1}`, baseUrl })),
        { name: 'scripted', baseUrl: 'http://127.0.0.1:1/v1' },
        { name: 'refused', baseUrl: 'http://127.0.0.1:1/v1' },
        { name: 'nowhere', baseUrl: 'http://nowhere.invalid/v1' },
        { name: 'gone', baseUrl: 'http://127.0.0.1:1/v1' },
      ],
      ...options.config,
    },
  });
  let before = servers.map(() => 0);
  const asked = (): readonly number[] => {
    const counts = servers.map(({ requests }, index) => requests.length - (before[index] ?? 0));
    before = servers.map(({ requests }) => requests.length);
    return counts;
  };
  return {
    host,
    clock,
    servers,
    lines,
    asked,
    answering(...replies) {
      for (const [index, server] of servers.entries()) server.fallback = replies[index] ?? says(`answer of p${index + 1}`);
      asked();
    },
    async during(work, stepMs) {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      void work.then(over, over);
      await until('the work to end', async () => {
        if (!isOver) await clock.tick(stepMs);
        return isOver;
      });
      return work;
    },
    async attempts(traceId) {
      const rows = (await host.rows('llm_calls')).filter((row) => row['trace_id'] === traceId);
      return rows.sort((a, b) => Number(a['seq']) - Number(b['seq'])).map((row) => `${String(row['provider'])} ${String(row['outcome'])}`);
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      for (const server of servers) await server.close();
    },
  };
}
