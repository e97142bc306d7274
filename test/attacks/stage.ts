/** Where a case is played: allowed and outside directories, a host with the agent `a1`, and a record of what its tools did. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../config/package-root.ts';
import type { LogLine, Plugin, ToolResult } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import type { TestHost } from '../harness/index.ts';
import { agentFile, scriptedModel, startHost } from '../harness/index.ts';
import type { AttackCase } from './corpus.ts';
import { Unsupported } from './corpus.ts';
import { filled } from './placeholders.ts';
import type { Meanings } from './placeholders.ts';
import { prepareFiles } from './prepare-files.ts';

/** Every tool that an agent can declare. */
const TOOLS =
  'read_file write_file edit_file append_file list_dir glob grep make_dir move_file copy_file delete_file shell http_get http_post http_request fetch_webpage download_file web_search current_time json_extract save_memory recall_memory notify ask_user read_result'.split(
    ' ',
  );

const PROFILE: Readonly<Record<string, unknown>> = {
  'file.protect': true,
  'shell.allowed_commands': [],
  'shell.timeout_seconds': 5,
  'shell.isolation': 'none',
  'http.allowed_domains': ['*.example.test', 'api.allowed.test'],
  'http.read_policy': 'whitelist',
  'http.allowed_private': [],
};

/** A tool call with its result. */
export interface PlayedCall {
  readonly traceId: string;
  readonly tool: string;
  readonly result: ToolResult;
}

export interface Stage extends AsyncDisposable {
  readonly host: TestHost;
  /** The top directory, `$T`. */
  readonly top: string;
  readonly meanings: Meanings;
  /** Lines of the log so far, as JSON. */
  readonly logs: readonly string[];
  /** AGENT.md of `a1` as it was at the start. */
  readonly agentText: string;
  /** Fills placeholders in. */
  fill<T>(value: T, more?: Meanings): T;
  /** Makes the agent's model call a tool once, in a turn of its own. Throws Unsupported for a tool that does not exist. */
  call(tool: string, args: unknown): Promise<PlayedCall>;
}

/** Sets everything up and starts the host. Throws Unsupported for settings that do not exist. */
export async function openStage({ setup }: AttackCase): Promise<Stage> {
  const top = realpathSync(await mkdtemp(join(tmpdir(), 'oryxos-attack-')));
  const root = join(top, 'home/workspace');
  const secret = randomBytes(32).toString('base64url');
  const meanings = {
    T: top,
    A: join(top, 'allowed'),
    ANAME: 'allowed',
    O: join(top, 'outside'),
    ONAME: 'outside',
    WS: root,
    SECRET: secret,
    RUN: randomBytes(6).toString('hex'),
  };
  const fill = <T>(value: T, more: Meanings = {}): T => filled(value, { ...meanings, ...more }) as T;
  const { agent, ...sections } = (setup['config'] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const agentText = agentFile(
    'a1',
    `tools: [${((agent?.['tools'] as readonly string[] | undefined) ?? TOOLS).join(', ')}]\nsettings:\n  on_fatal_tool_error: feedback`,
  );
  const closers: (() => Promise<void>)[] = [async () => rm(top, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    for (const [name, text] of Object.entries({ default: agentFile('default'), a1: agentText, a2: agentFile('a2') })) {
      mkdirSync(join(root, 'agents', name), { recursive: true });
      writeFileSync(join(root, 'agents', name, 'AGENT.md'), text);
    }
    closers.push(...(await prepareFiles(fill((setup['fs'] ?? []) as readonly (readonly unknown[])[]))));
    const calls = new Map<string, PlayedCall>();
    const logs: string[] = [];
    const host = await startHost({
      home: join(top, 'home'),
      config: { ...known(PROFILE), 'file.allowed_paths': [meanings.A], 'logging.level': 'debug', ...required(fill(sections)) },
      env: fill((setup['env'] ?? {}) as Readonly<Record<string, string>>),
      plugins: [recorder(calls, logs)],
      model: scriptedModel(),
    });
    closers.push(() => host.stop());
    const wanted = new Map<string, { readonly name: string; readonly arguments: unknown }>();
    host.model.always(({ messages }) => {
      const call = wanted.get(messages.at(-1)?.content ?? '');
      return call ? { calls: [call] } : { content: 'done' };
    });
    const port = new URL(host.url).port;
    const all = { BASE: host.url, PORT: port };
    return {
      host,
      top,
      meanings: { ...meanings, ...all },
      logs,
      agentText,
      fill: (value, more = {}) => fill(value, { ...all, ...more }),
      async call(tool, args) {
        const id = randomUUID();
        wanted.set(id, { name: tool, arguments: args });
        const { error } = await host.say('a1', id);
        const call = calls.get(id);
        if (call === undefined) throw new Error(`the call of ${tool} was not made: ${error?.message ?? 'no error'}`);
        if (!call.result.success && call.result.errorMessage === `Unknown tool: ${tool}`) throw new Unsupported(`tool ${tool}`);
        return call;
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Notes every call under what its turn was asked. */
function recorder(calls: Map<string, PlayedCall>, logs: string[]): Plugin {
  return definePlugin({
    name: 'attack-recorder',
    setup(ctx) {
      ctx.register('logSink', { name: 'attack-recorder', write: (line: LogLine) => void logs.push(JSON.stringify(line)) });
      ctx.tap('afterToolCall', (rows, { turn, toolName }, result) => {
        calls.set(turn.input, { traceId: turn.id, tool: toolName, result });
        return rows;
      });
    },
  });
}

const reference = parse(readFileSync(join(packageRoot, 'config/application.yml'), 'utf8')) as Readonly<Record<string, unknown>>;

const exists = (path: string): boolean =>
  path
    .split('.')
    .reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? (at as Readonly<Record<string, unknown>>)[key] : undefined),
      reference,
    ) !== undefined;

const known = (settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(settings).filter(([path]) => exists(path)));

/** `{ file: { protect: false } }` as `{ 'file.protect': false }`. */
function required(sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Readonly<Record<string, unknown>> {
  const settings = Object.entries(sections).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value] as const),
  );
  const missing = settings.find(([path]) => !exists(path));
  if (missing) throw new Unsupported(`setting ${missing[0]}`);
  return Object.fromEntries(settings);
}
