/** Runs cases of the areas POLICY, SECRET and INJECT of the attack corpus against a whole host. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin, ToolResult } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/index.ts';
import type { Answer } from '../harness/http-client.ts';
import { agentFile, eventsFrom } from '../harness/index.ts';
import type { Receiver } from '../harness/receiver.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { SimulatedNetwork } from '../plugins/outside/simulated-network.ts';
import { outsideOn } from '../plugins/outside/simulated-network.ts';
import type { Toolbox } from '../plugins/tools/toolbox.ts';
import { toolbox } from '../plugins/tools/toolbox.ts';
import { addChannel, networkOf, stubServer } from './policy-surroundings.ts';
import { namesAs, withLookup } from './robot.ts';
import { watchSockets } from './socket-watch.ts';

/** One case of the corpus. */
export interface Case {
  readonly id: string;
  readonly title: string;
  readonly level: 'must' | 'should';
  readonly setup: {
    readonly config?: {
      readonly agent?: { readonly tools: readonly string[] };
      readonly policy?: readonly object[];
      readonly shell?: Readonly<Record<string, unknown>>;
      readonly http?: Readonly<Record<string, unknown>>;
    };
    readonly agent_body?: string;
    readonly providers?: readonly { readonly name: string }[];
    readonly http?: readonly { readonly host?: string; readonly path?: string; readonly status?: number; readonly body: string }[];
    /** Addresses by name. A case that has them is played on a simulated network. */
    readonly dns?: Readonly<Record<string, readonly string[]>>;
    readonly notify?: readonly Channel[];
  };
  readonly input: Input | readonly Input[];
  readonly expect: Expectation;
}
/** A channel of a set-up. */
export interface Channel {
  readonly name: string;
  readonly type: string;
  readonly url: string;
}
interface Input {
  readonly kind: string;
  readonly message?: string;
  readonly method?: string;
  readonly path?: string;
  readonly json?: unknown;
  readonly tool?: string;
  readonly args?: unknown;
  readonly paths?: readonly string[];
  readonly llm_script?: readonly ScriptedReply[];
}
interface ScriptedReply {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: unknown }[];
  readonly before_reply?: Input;
}
interface Expectation {
  readonly outcome: string;
  readonly each?: boolean;
  readonly status?: number;
  readonly turn_completes?: boolean;
  readonly retryable?: boolean;
  readonly audit?: Readonly<Record<string, unknown>>;
  readonly steps?: readonly (string | Expectation)[];
  readonly fs?: readonly (readonly string[])[];
  readonly dns?: readonly (readonly string[])[];
  readonly mode?: Readonly<Record<string, string>>;
  readonly result_not_contains?: readonly string[];
  readonly trace_contains?: readonly string[];
  readonly trace_not_contains?: readonly string[];
  readonly sse_not_contains?: readonly string[];
  readonly log_not_contains?: readonly string[];
  readonly db_contains?: readonly string[];
  readonly db_not_contains_in?: readonly string[];
}

/** What a case has left behind. */
export interface Aftermath {
  readonly box: Toolbox;
  /** Answers to what was sent, one per input. */
  readonly answers: readonly Answer[];
  /** Every tool call in the order in which it ended. */
  readonly calls: readonly Call[];
  readonly secret: string;
  /** What stands behind the URLs of channels. */
  readonly robot: Receiver;
  /** Requests of tools, where the case has names. */
  readonly requests: SimulatedNetwork['requests'];
  /** Names that were looked up: by tools, for registered URLs, and for any connection of this process. */
  readonly lookups: Readonly<Record<'tools' | 'channels' | 'sockets', readonly string[]>>;
}
interface Call {
  readonly id: string;
  readonly name: string;
  readonly result: ToolResult;
}

const COMPLETED = ['completed', 'max_iterations', 'loop'];

/**
 * Everything in which the host differs from what the case expects; empty when it holds.
 *
 * @param invariants  the sentences of the case as code; resolves with what is wrong
 */
export async function runCase(one: Case, invariants: (after: Aftermath) => Promise<readonly string[]>): Promise<readonly string[]> {
  const secret = `s3cr3t${process.pid}${one.id.replaceAll('-', '')}`;
  const stub = await stubServer(one.setup.http?.[0], secret);
  const calls: Call[] = [];
  const provider = one.setup.providers?.[0]?.name;
  const { agent, shell = {}, http = {} } = one.setup.config ?? {};
  const front = `tools: ${JSON.stringify(agent?.tools ?? [])}\nsettings: {on_fatal_tool_error: feedback}`;
  const own = (name: string): string => agentFile(name, front, one.setup.agent_body);
  try {
    await using robot = await startReceiver();
    await using net = await networkOf(one);
    using sockets = watchSockets();
    const asked: string[] = [];
    await using box = await toolbox({
      agents: { a1: own('a1'), a2: own('a2') },
      config: {
        'shell.isolation': 'none',
        'shell.timeout_seconds': 5,
        'logging.level': 'debug',
        ...dotted('shell', shell),
        ...dotted('http', http),
      },
      plugins: [recorder(calls)],
      ...(provider !== undefined && { modelUrl: `http://127.0.0.1:${stub.port}/v1` }),
    });
    const names = Object.fromEntries(Object.keys(one.setup.dns ?? {}).map((name) => [name, '127.0.0.1']));
    if (net) await box.host.kernel.replace(withLookup(outsideOn(net.network), namesAs(names, asked)));
    const fill = filler(box, secret, stub.port);
    for (const channel of one.setup.notify ?? []) await addChannel(box, fill(channel), robot);
    for (const made of one.setup.providers ?? []) await box.host.request('POST', '/api/v1/providers', fill(made));
    if (provider !== undefined) await box.host.request('PUT', '/api/v1/agents/a1/basic', { provider });
    for (const rule of one.setup.config?.policy ?? []) await box.host.request('POST', '/api/v1/tool-policy/rules', rule);
    const answers: Answer[] = [];
    for (const input of [one.input].flat()) answers.push(await send(box, fill(input)));
    const lookups = { tools: net?.lookups ?? [], channels: asked, sockets: sockets.names };
    const after = { box, answers, calls, secret, robot, requests: net?.requests ?? [], lookups };
    return [...(await differences(fill(one.expect), after)), ...(await invariants(after))];
  } finally {
    await stub.close();
  }
}

async function send(box: Toolbox, input: Input): Promise<Answer> {
  const { host } = box;
  if (input.kind === 'api') return host.request(input.method ?? 'GET', input.path ?? '/', input.json);
  if (input.kind === 'stat') return host.request('GET', '/api/v1/health');
  if (input.kind === 'tool') host.model.willCall(input.tool ?? '', input.args);
  for (const { content = '', tool_calls: calls = [], before_reply: before } of input.llm_script ?? []) {
    host.model.will(async () => {
      if (before) await send(box, before);
      return { content, calls };
    });
  }
  const body = { content: input.message ?? 'go' };
  const path = '/api/v1/agents/a1/invoke';
  return input.kind === 'turn_sse' ? host.stream(path, body) : host.request('POST', path, body);
}

async function differences(expect: Expectation, after: Aftermath): Promise<readonly string[]> {
  const { box, answers, calls } = after;
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const [answer] = answers;
  const failed = calls.filter(({ result }) => !result.success);
  const rows = await box.host.rows('tool_invocations');

  for (const [index, { status, data, text }] of answers.entries()) {
    if (expect.outcome === 'reject') check(status >= 400 && data === null, `#${index} is ${status}: ${text.slice(0, 200)}`);
    if (expect.status !== undefined) check(status === expect.status, `#${index} has status ${status}: ${text.slice(0, 200)}`);
  }
  if (expect.outcome === 'tool_denied') check(failed.length > 0, 'no call was denied');
  const refused = failed.filter(({ result }) => !result.success && result.blockedBy !== undefined);
  if (expect.outcome === 'allow') check(refused.length === 0 && answer?.status === 200, `is ${answer?.status}: ${JSON.stringify(refused)}`);
  if (expect.outcome === 'error') check((answer?.status ?? 0) >= 400 || failed.length > 0, 'nothing failed');
  if (expect.turn_completes === true || expect.outcome === 'turn_completes')
    check(isComplete(answer), `the turn ended so: ${answer?.text}`);
  if (expect.audit !== undefined)
    check(
      rows.some((row) => matches(row, expect.audit ?? {})),
      `no such row: ${JSON.stringify(rows)}`,
    );
  if (expect.retryable !== undefined)
    check(
      failed.length > 0 && failed.every(({ result }) => !result.success && result.retryable === expect.retryable),
      `retryable is not ${expect.retryable}`,
    );
  for (const [index, step] of (expect.steps ?? []).entries()) {
    const outcome = typeof step === 'string' ? step : step.outcome;
    check(calls[index]?.result.success === (outcome === 'allow'), `call ${index} is not ${outcome}: ${JSON.stringify(calls[index])}`);
  }
  for (const [what, path = ''] of expect.fs ?? []) check(existsSync(path) === (what === 'exists'), `${path} is not ${what}`);
  for (const [, name = ''] of expect.dns ?? []) check(!Object.values(after.lookups).flat().includes(name), `${name} was looked up`);
  for (const [path, mode] of Object.entries(expect.mode ?? {}))
    check(((await stat(path)).mode & 0o777).toString(8).padStart(4, '0') === mode, `${path} is not ${mode}`);

  const said = `${answers.map(({ text }) => text).join('\n')}${JSON.stringify(calls)}`;
  for (const part of expect.result_not_contains ?? []) check(!said.includes(part), `a result contains ${part}`);
  for (const part of expect.sse_not_contains ?? []) check(!answers.some(({ text }) => text.includes(part)), `an answer contains ${part}`);
  for (const part of expect.db_contains ?? []) check(JSON.stringify(rows).includes(part), `the database lacks ${part}`);
  for (const table of expect.db_not_contains_in ?? []) {
    const text = JSON.stringify(await box.host.rows(table));
    check(!text.includes(after.secret), `the table ${table} contains the secret`);
  }
  if (expect.trace_contains ?? expect.trace_not_contains) {
    const { text } = await box.host.request('GET', `/api/v1/audit/trace/${String(rows[0]?.['trace_id'])}`);
    for (const part of expect.trace_contains ?? []) check(text.includes(part), `the trace lacks ${part}`);
    for (const part of expect.trace_not_contains ?? []) check(!text.includes(part), `the trace contains ${part}: ${text}`);
  }
  if (expect.log_not_contains !== undefined) {
    await box.host.kernel.unload('logging');
    const log = await readFile(join(box.root, 'logs/oryxos.log'), 'utf8').catch(() => '');
    for (const part of expect.log_not_contains) check(!log.includes(part), `the log contains ${part}`);
  }
  return problems;
}

function isComplete(answer: Answer | undefined): boolean {
  const done = answer?.text.includes('event: ') === true ? eventsFrom(answer.text).at(-1)?.data : answer?.data;
  return answer?.status === 200 && COMPLETED.includes((done as { stopReason?: string } | null)?.stopReason ?? '');
}

const matches = (row: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(([name, value]) => row[name] === (typeof value === 'boolean' ? Number(value) : value));

const recorder = (calls: Call[]): Plugin =>
  definePlugin({
    name: 'call-recorder',
    setup(ctx) {
      ctx.tap('afterToolCall', (rows, { id, toolName }, result) => {
        calls.push({ id, name: toolName, result });
        return rows;
      });
    },
  });

const dotted = (section: string, keys: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value]));

function filler(box: Toolbox, secret: string, stubPort: number): <T>(value: T) => T {
  const names: Readonly<Record<string, string>> = {
    STUBPORT: String(stubPort),
    SECRET: secret,
    WS: box.root,
    A: box.allowed,
    O: box.outside,
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/\$(STUBPORT|SECRET|WS|A|O)(?![A-Z])/g, (all, name: string) => names[name] ?? all);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    if ('repeat_then' in value) {
      const [text, times, end] = value.repeat_then as [string, number, string];
      return text.repeat(times) + end;
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [fill(key), fill(inner)]));
  };
  return <T>(value: T) => fill(value) as T;
}

/** The cases of one file of the corpus, or undefined where it is not at hand. */
export async function casesOf(directory: string, file: string): Promise<readonly Case[] | undefined> {
  const path = join(directory, file);
  return existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as readonly Case[]) : undefined;
}
