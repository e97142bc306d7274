/** A whole OryxOS in a temporary workspace, for tests of plugins and of OryxOS itself. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { boot, type Host } from '../../config/boot.ts';
import type { Clock, KernelHost, Plugin, TurnEvent, TurnOutcome } from '../../kernel/index.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { type Answer, request, stream, type StreamedAnswer } from './http-client.ts';

/** What a test host is started with; everything has a default. */
export interface HostOptions {
  /** Values by key path, e.g. `{ 'file.allowed_paths': ['/srv/docs'] }`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Text of AGENT.md by agent name. There is always an agent `default` unless it is given here. */
  readonly agents?: Readonly<Record<string, string>>;
  /** Texts of files that lie in the workspace before the start, by path, e.g. "plugins/hello/index.js". */
  readonly files?: Readonly<Record<string, string>>;
  /** Loaded after the built-in plugins. */
  readonly plugins?: readonly Plugin[];
  readonly clock?: Clock;
  /** The home of an earlier host, to go on with its workspace; it is then kept. Otherwise a fresh one is made and removed at the end. */
  readonly home?: string;
  readonly model?: ScriptedModel;
  /** Base URL of an OpenAI-compatible server that the provider `scripted` then really talks to; the scripted model is out of use. */
  readonly modelUrl?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly mode?: 'serve' | 'embedded';
  /** A configuration file to use instead of the application.yml of the workspace. */
  readonly file?: string;
}

/** A running host with everything a test needs of it. */
export interface TestHost extends AsyncDisposable {
  readonly kernel: KernelHost;
  readonly model: ScriptedModel;
  /** The directory that holds the workspace; pass it to another `startHost` to go on with it. */
  readonly home: string;
  /** The workspace. */
  readonly root: string;
  readonly url: string;
  /** One stateless turn, through the front door of the kernel. */
  say(agent: string, content: string, onEvent?: (event: TurnEvent) => void): Promise<TurnOutcome>;
  /** A turn in a session. */
  tell(sessionId: string, agent: string, content: string): Promise<TurnOutcome>;
  /** All rows of a table. */
  rows(table: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stream(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<StreamedAnswer>;
  /** Writes a file of the workspace, as an editor would. */
  write(path: string, content: string): Promise<void>;
  /** Suspends what still runs and stops the host; a home that was given stays. */
  stop(): Promise<void>;
}

/** An AGENT.md for tests: runs on the scripted model. `extra` is YAML that is added to the front matter. */
export function agentFile(name: string, extra = 'tools: []', body = 'You are a test agent.'): string {
  return `---\nname: ${name}\nprovider:\n  name: scripted\n  model: test-model\n${extra}\n---\n\n${body}\n`;
}

/**
 * Starts a host on a scripted model, on a port of its own, in a workspace of its own.
 *
 * @example
 * ```ts
 * await using host = await startHost({ agents: { helper: agentFile('helper', 'tools: [current_time]') } });
 * host.model.willCall('current_time', { timezone: 'UTC' });
 * host.model.willSay('It is late.');
 * const outcome = await host.say('helper', 'what time is it?');
 * ```
 */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'oryxos-test-')));
  const root = join(home, 'workspace');
  const agents = { default: agentFile('default'), ...options.agents };
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  if (options.home === undefined) for (const [name, text] of Object.entries(agents)) await write(`agents/${name}/AGENT.md`, text);
  for (const [path, text] of Object.entries(options.files ?? {})) await write(path, text);
  const model = options.model ?? scriptedModel();
  const host = await boot({
    mode: options.mode ?? 'serve',
    root,
    cwd: home,
    file: options.file,
    env: options.env ?? {},
    flags: {
      'server.port': 0,
      'logging.level': 'error',
      'logging.format': 'off',
      'oryxos.providers': [{ name: 'scripted', baseUrl: options.modelUrl ?? 'http://127.0.0.1:9/v1' }],
      ...options.config,
    },
    ...(options.modelUrl === undefined && { adapters: [model.adapter] }),
    ...(options.plugins && { plugins: options.plugins }),
    ...(options.clock && { clock: options.clock }),
  });
  return testHost(host, home, model, write, async () => {
    if (options.home === undefined) await rm(home, { recursive: true, force: true });
  });
}

function testHost(host: Host, home: string, model: ScriptedModel, write: TestHost['write'], cleanUp: () => Promise<void>): TestHost {
  const { kernel, url, root } = host;
  let stopped: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await kernel.service('engine').drain(0);
    await host.close();
    await cleanUp();
  };
  const stop = (): Promise<void> => (stopped ??= close());
  const run = (
    agent: string,
    sessionId: string,
    input: string,
    persistent: boolean,
    onEvent?: (event: TurnEvent) => void,
  ): Promise<TurnOutcome> =>
    kernel.service('turns').run({ id: randomUUID(), profile: agent, sessionId, origin: 'invoke', input, persistent }, onEvent);
  return {
    kernel,
    model,
    home,
    root,
    url,
    say: (agent, content, onEvent) => run(agent, `invoke-exec:${randomUUID()}`, content, false, onEvent),
    tell: (sessionId, agent, content) => run(agent, sessionId, content, true),
    rows: (table) => kernel.service('store').all(`SELECT * FROM "${table.replaceAll('"', '')}"`),
    request: (method, path, body, headers) => request(url, method, path, body, headers),
    stream: (path, body, headers) => stream(url, path, body, headers),
    write,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
