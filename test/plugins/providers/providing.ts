/** A real host with the providers plugin and what it stands on, in a workspace of its own. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mockAdapter } from '../../../adapters/provider/mock.ts';
import { openaiAdapter } from '../../../adapters/provider/openai.ts';
import { createKernel, definePlugin } from '../../../kernel/index.ts';
import type { KernelHost, LlmResult, LogLine, Plugin, Provider } from '../../../kernel/index.ts';
import http from '../../../plugins/http/index.ts';
import outside from '../../../plugins/outside/index.ts';
import providers from '../../../plugins/providers/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import store from '../../../plugins/store/index.ts';
import workspace from '../../../plugins/workspace/index.ts';
import { type Answer, request } from '../../harness/http-client.ts';
import { type FakeClock, fakeClock } from '../../harness/fake-clock.ts';
import { ask } from '../../adapters/provider/outgoing.ts';

export interface Providing extends AsyncDisposable {
  readonly kernel: KernelHost;
  readonly clock: FakeClock;
  readonly lines: readonly LogLine[];
  request(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The callable provider. Throws when there is none. */
  provider(name: string): Provider;
  chat(name: string): Promise<LlmResult>;
  /** Changes the database behind the plugin's back. */
  sql(sql: string, ...params: readonly (string | null)[]): Promise<void>;
  /** Everything that the workspace holds on disk, as text. */
  disk(): Promise<string>;
  stop(): Promise<void>;
}

export interface ProvidingOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  /** The workspace of an earlier host; it is kept. */
  readonly root?: string;
  /** Loaded before the providers plugin. */
  readonly before?: readonly Plugin[];
}

/** A workspace that outlives its hosts; remove it with the returned function. */
export async function workspaceRoot(): Promise<{ readonly root: string; readonly remove: () => Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'oryxos-providers-'));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

export async function providing(options: ProvidingOptions = {}): Promise<Providing> {
  const own = options.root === undefined ? await workspaceRoot() : undefined;
  const root = options.root ?? own?.root ?? '';
  const clock = fakeClock();
  const kernel = createKernel({ clock });
  const lines: LogLine[] = [];
  const support = definePlugin({
    name: 'support',
    setup(ctx) {
      ctx.register('logSink', { name: 'lines', write: (line) => void lines.push(line) });
      for (const adapter of [openaiAdapter, mockAdapter]) ctx.register('providerAdapter', adapter);
    },
  });
  const plugins: readonly (readonly [Plugin, unknown])[] = [
    [support, {}],
    [workspace, { root }],
    [secrets, {}],
    [store, {}],
    [http, { port: 0 }],
    [outside, {}],
    ...(options.before ?? []).map((plugin) => [plugin, {}] as const),
    [providers, options.config ?? {}],
  ];
  for (const [plugin, config] of plugins) {
    const { state, error, missing } = await kernel.load(plugin, config);
    if (state !== 'active') throw error ?? new Error(`${plugin.name} is ${state}, missing ${missing.join(', ')}`);
  }
  const { url } = await kernel.service('http').listen();
  const provider = (name: string): Provider => {
    const found = kernel.registry('provider').get(name);
    if (found === undefined) throw new Error(`no provider ${name}`);
    return found;
  };
  const stop = async (): Promise<void> => {
    await kernel.close();
    await own?.remove();
  };
  return {
    kernel,
    clock,
    lines,
    request: (method, path, body) => request(url, method, `/api/v1/providers${path}`, body),
    provider,
    chat: (name) => provider(name).chat(ask('hi'), () => {}, new AbortController().signal),
    sql: async (sql, ...params) => void (await kernel.service('store').write({ sql, params })),
    disk: async () => {
      const files = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isFile());
      return (await Promise.all(files.map(({ name }) => readFile(join(root, name), 'latin1')))).join('\n');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
