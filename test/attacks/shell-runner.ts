/** Runs the SHELL cases of the attack corpus against a whole host. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { ToolResult } from '../../kernel/index.ts';
import { agentFile } from '../harness/index.ts';
import { marked } from '../plugins/outside/marked-processes.ts';
import type { Toolbox } from '../plugins/tools/toolbox.ts';
import { toolbox } from '../plugins/tools/toolbox.ts';

/** One case of `shell.json`. */
export interface ShellCase {
  readonly id: string;
  readonly title: string;
  readonly level: 'must' | 'should';
  readonly setup: {
    readonly fs?: readonly (readonly unknown[])[];
    readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly http?: readonly { readonly body: string }[];
    readonly requires?: string;
  };
  readonly input: Input | readonly Input[];
  readonly expect: Expectation;
}
type Input =
  | { readonly kind: 'tool'; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'api'; readonly method: string; readonly path: string }
  | { readonly kind: 'unit' };
interface Expectation {
  readonly outcome: string;
  readonly retryable?: boolean;
  readonly steps?: readonly (string | Expectation)[];
  readonly result_contains?: readonly string[];
  readonly result_contains_each?: readonly string[];
  readonly result_not_contains?: readonly string[];
  readonly result_max_bytes?: number;
  readonly max_ms?: number;
  readonly max_rss_mb?: number;
  readonly fs?: readonly (readonly string[])[];
  readonly net?: readonly string[];
  readonly processes?: readonly (readonly string[])[];
}

/** What the corpus calls the result of a call: `deny` is a refusal of a guard, `error` any other failure. */
const outcomeOf = (result: ToolResult): string => (result.success ? 'allow' : result.blockedBy === undefined ? 'error' : 'deny');
const textOf = (result: ToolResult): string => (result.success ? result.content : result.errorMessage);
const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

/** Everything in which the host differs from what the case expects; empty when it holds. Cases of kind `unit` are not run here. */
export async function runShellCase(testCase: ShellCase): Promise<readonly string[]> {
  const secret = `s3cr3t-${process.pid}-${testCase.id}`;
  const { setup, expect } = testCase;
  const stub = await stubServer(secret);
  const restore = setEnvironment(setup.env ?? {}, secret);
  try {
    await using box = await toolbox({
      agents: { a1: agentFile('a1', 'tools: [shell]\nsettings:\n  on_fatal_tool_error: feedback') },
      config: { 'shell.isolation': 'none', 'shell.timeout_seconds': 5, 'shell.allowed_commands': [], ...flat(setup.config ?? {}) },
    });
    const fill = filler(box, secret, stub.port);
    for (const op of fill(setup.fs ?? [])) await prepare(op as readonly string[]);
    const rssBefore = process.memoryUsage().rss;
    const problems: string[] = [];
    const results: { readonly result: ToolResult; readonly ms: number }[] = [];
    for (const [index, input] of fill(list(testCase.input)).entries()) {
      const since = performance.now();
      const result = await act(box, input);
      results.push({ result, ms: performance.now() - since });
      const wanted = stepOf(expect, index);
      problems.push(...differences(result, fill(wanted), performance.now() - since).map((text) => `#${index} ${text}`));
    }
    for (const [index, part] of fill(expect.result_contains_each ?? []).entries()) {
      const result = results[index]?.result;
      if (result === undefined || !textOf(result).includes(part)) problems.push(`#${index} lacks ${part}`);
    }
    if ((process.memoryUsage().rss - rssBefore) / 2 ** 20 > (expect.max_rss_mb ?? Number.POSITIVE_INFINITY))
      problems.push('uses too much memory');
    problems.push(...(await aftermath(box, fill(expect), stub.requests())));
    return problems;
  } finally {
    restore();
    await stub.close();
  }
}

function stepOf(expect: Expectation, index: number): Expectation {
  const step = expect.steps?.[index];
  if (step === undefined) return expect;
  return typeof step === 'string' ? { outcome: step } : step;
}

function differences(result: ToolResult, expect: Expectation, ms: number): readonly string[] {
  const text = textOf(result);
  const outcome = outcomeOf(result);
  const problems: string[] = [];
  if (expect.outcome !== 'any' && !expect.outcome.split('_or_').includes(outcome)) problems.push(`is ${outcome}: ${text.slice(0, 300)}`);
  if (outcome === 'deny' && !text.includes('whitelist')) problems.push(`does not name the whitelist: ${text}`);
  if (expect.retryable !== undefined && !result.success && result.retryable !== expect.retryable)
    problems.push(`retryable is ${result.retryable}`);
  for (const part of expect.result_contains ?? []) if (!text.includes(part)) problems.push(`lacks ${part}: ${text.slice(0, 300)}`);
  for (const part of expect.result_not_contains ?? []) if (text.includes(part)) problems.push(`contains ${part}`);
  if (expect.max_ms !== undefined && ms > expect.max_ms) problems.push(`took ${Math.round(ms)} ms`);
  if (expect.result_max_bytes !== undefined && Buffer.byteLength(text) > expect.result_max_bytes) problems.push(`has ${text.length} bytes`);
  return problems;
}

async function aftermath(box: Toolbox, expect: Expectation, requests: number): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [what, path = ''] of expect.fs ?? []) if (existsSync(path) !== (what === 'exists')) problems.push(`${path} is not ${what}`);
  if (expect.net?.includes('no_connect') === true && requests > 0) problems.push(`${requests} connections were made`);
  const instance = `ORYXOS_INSTANCE=${box.host.kernel.service('workspace').instanceId}`;
  if (expect.processes !== undefined && (await marked(instance)).length > 0) problems.push('processes are left');
  return problems;
}

async function act(box: Toolbox, input: Input): Promise<ToolResult> {
  if (input.kind === 'tool') return box.call(input.tool, input.args);
  if (input.kind === 'unit') throw new Error('cases of kind unit are written out as tests');
  const { status, message } = await box.host.request(input.method, input.path);
  return status === 200 ? { success: true, content: '' } : { success: false, errorMessage: message ?? '', retryable: true };
}

async function prepare([op, path = '', text = '']: readonly string[]): Promise<void> {
  if (path !== '') await mkdir(dirname(path), { recursive: true });
  if (op === 'mkdir') await mkdir(path, { recursive: true });
  if (op === 'write') await writeFile(path, text);
  if (op === 'append') await appendFile(path, text);
  if (op === 'exec') {
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
  }
  if (op === 'gitrepo') execFileSync('git', ['init', '-q', path]);
  if (op === 'tar') {
    await writeFile(`${path}.member`, '1');
    execFileSync('tar', ['-C', dirname(path), '-cf', path, `${path.slice(dirname(path).length + 1)}.member`]);
  }
}

const flat = (config: NonNullable<ShellCase['setup']['config']>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config).flatMap(([section, keys]) => Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value])),
  );

function filler(box: Toolbox, secret: string, stubPort: number): <T>(value: T) => T {
  const values: Readonly<Record<string, string>> = {
    $STUBPORT: String(stubPort),
    $SECRET: secret,
    $ANAME: 'allowed',
    $ONAME: 'outside',
    $WS: box.root,
    $A: box.allowed,
    $O: box.outside,
    $T: box.top,
  };
  const pattern = /\$(STUBPORT|SECRET|ANAME|ONAME|WS|A|O|T)(?![A-Z])/g;
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(pattern, (name) => values[name] ?? name);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
  };
  return <T>(value: T) => fill(value) as T;
}

function setEnvironment(env: Readonly<Record<string, string>>, secret: string): () => void {
  const before = { ...process.env };
  for (const [name, value] of Object.entries(env)) process.env[name] = value.replaceAll('$SECRET', secret);
  return () => {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  };
}

async function stubServer(secret: string): Promise<{ port: number; requests(): number; close(): Promise<void> }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end(secret);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** The cases, or undefined where the corpus is not at hand. */
export async function shellCases(directory: string): Promise<readonly ShellCase[] | undefined> {
  if (!existsSync(directory) || !(await readdir(directory)).includes('shell.json')) return undefined;
  return JSON.parse(await readFile(`${directory}/shell.json`, 'utf8')) as readonly ShellCase[];
}
