/** Runs the HTTP cases of the attack corpus against a whole host on a simulated network. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolResult } from '../../kernel/index.ts';
import { agentFile } from '../harness/index.ts';
import { outsideOn, simulatedNetwork } from '../plugins/outside/simulated-network.ts';
import type { SimulatedNetwork } from '../plugins/outside/simulated-network.ts';
import type { Toolbox } from '../plugins/tools/toolbox.ts';
import { toolbox } from '../plugins/tools/toolbox.ts';
import { serveRoute } from './http-stub.ts';
import type { StubRoute } from './http-stub.ts';

/** One case of `http.json`. */
export interface HttpCase {
  readonly id: string;
  readonly title: string;
  readonly level: 'must' | 'should';
  readonly setup: {
    readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly dns?: Readonly<Record<string, readonly string[]>>;
    readonly dns_sequence?: Readonly<Record<string, readonly (readonly string[])[]>>;
    readonly http?: readonly StubRoute[];
  };
  readonly input: Input | readonly Input[];
  readonly expect: Expectation;
}
type Input =
  | { readonly kind: 'tool'; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'api'; readonly method: string; readonly path: string; readonly json: unknown }
  | { readonly kind: 'repeat'; readonly n: number; readonly call: Input }
  | { readonly kind: 'with_health'; readonly call: readonly Input[] };
interface Expectation {
  readonly outcome: string;
  readonly status?: number;
  readonly retryable?: boolean;
  readonly result_contains?: readonly string[];
  readonly result_contains_each?: readonly string[];
  readonly result_not_contains?: readonly string[];
  readonly log_not_contains?: readonly string[];
  readonly max_ms?: number;
  readonly max_rss_mb?: number;
  readonly health_max_ms?: number;
  readonly fs?: readonly (readonly string[])[];
  readonly dns?: readonly (readonly string[])[];
  readonly net?: readonly (readonly unknown[])[];
}
interface Outcome {
  readonly name: string;
  readonly text: string;
  readonly retryable: boolean;
  readonly status: number;
}

const STUB_PORT = '18080';

/** Everything in which the host differs from what the case expects; empty when it holds. */
export async function runHttpCase(testCase: HttpCase): Promise<readonly string[]> {
  const secret = `s3cr3t-${testCase.id}-0123456789abcdef`;
  const { setup, expect, input } = expanded(testCase);
  const routes = filled(setup.http ?? [], { $SECRET: secret, $STUBPORT: STUB_PORT });
  const config = Object.entries(setup.config ?? {}).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value] as const),
  );
  await using net = await simulatedNetwork({
    dns: { ...setup.dns, ...setup.dns_sequence },
    serve: (request, response) => serveRoute(routes, request, response),
  });
  await using box = await toolbox({
    agents: {
      a1: agentFile(
        'a1',
        'tools: [http_get, http_post, http_request, fetch_webpage, download_file, web_search]\nsettings:\n  on_fatal_tool_error: feedback',
      ),
    },
    config: { 'logging.level': 'debug', 'logging.format': 'off', 'web_search.base-url': searchUrl(routes), ...Object.fromEntries(config) },
  });
  await box.host.kernel.replace(outsideOn(net.network));
  const values = { $SECRET: secret, $STUBPORT: STUB_PORT, $A: box.allowed, $WS: box.root };
  const problems: string[] = [];
  const outcomes: Outcome[] = [];
  const rssBefore = process.memoryUsage().rss;
  let peakRss = rssBefore;
  const watching = setInterval(() => (peakRss = Math.max(peakRss, process.memoryUsage().rss)), 20);
  let slowest = 0;
  for (const [index, one] of flattened(filled(input, values)).entries()) {
    const since = performance.now();
    const health = expect.health_max_ms === undefined ? undefined : pollHealth(box);
    const outcome = await act(box, one);
    slowest = Math.max(slowest, (await health?.stop()) ?? 0);
    outcomes.push(outcome);
    problems.push(...differences(outcome, filled(expect, values), performance.now() - since).map((text) => `#${index} ${text}`));
  }
  clearInterval(watching);
  for (const [index, part] of (expect.result_contains_each ?? []).entries()) {
    if (!(outcomes[index]?.text ?? '').includes(part)) problems.push(`#${index} lacks ${part}: ${outcomes[index]?.text}`);
  }
  if (slowest > (expect.health_max_ms ?? Number.POSITIVE_INFINITY)) problems.push(`health took ${Math.round(slowest)} ms`);
  if ((peakRss - rssBefore) / 2 ** 20 > (expect.max_rss_mb ?? Number.POSITIVE_INFINITY)) problems.push('uses too much memory');
  problems.push(...(await aftermath(box, net, filled(expect, values))));
  return problems;
}

function pollHealth(box: Toolbox): { stop(): Promise<number> } {
  let slowest = 0;
  let going = true;
  const polling = (async () => {
    while (going) {
      const since = performance.now();
      await box.host.request('GET', '/api/v1/health');
      slowest = Math.max(slowest, performance.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    async stop() {
      going = false;
      await polling;
      return slowest;
    },
  };
}

async function act(box: Toolbox, input: Input): Promise<Outcome> {
  if (input.kind === 'tool') return outcomeOf(await box.call(input.tool, input.args));
  if (input.kind !== 'api') throw new Error(`the runner knows no input of kind ${input.kind}`);
  const { status, message } = await box.host.request(input.method, input.path, input.json);
  return { name: status === 200 ? 'allow' : 'reject', text: message ?? '', retryable: true, status };
}

function outcomeOf(result: ToolResult): Outcome {
  if (result.success)
    return { name: /^\[cut: /m.test(result.content) ? 'truncated' : 'allow', text: result.content, retryable: true, status: 200 };
  return { name: result.blockedBy === undefined ? 'error' : 'deny', text: result.errorMessage, retryable: result.retryable, status: 422 };
}

function differences({ name, text, retryable, status }: Outcome, expect: Expectation, ms: number): readonly string[] {
  const problems: string[] = [];
  const allowed = expect.outcome.split('_or_');
  // A refusal is an error as well, unless the case tells the two apart.
  const names = [
    name,
    ...(name === 'truncated' ? ['allow'] : []),
    ...(name === 'deny' && !allowed.includes('deny') && allowed.length > 1 ? ['error'] : []),
  ];
  if (expect.outcome !== 'any' && !names.some((one) => allowed.includes(one))) problems.push(`is ${name}: ${text.slice(0, 300)}`);
  if (name === 'deny' && !text.includes('whitelist')) problems.push(`does not name the whitelist: ${text}`);
  if (expect.retryable !== undefined && retryable !== expect.retryable) problems.push(`retryable is ${retryable}: ${text}`);
  if (expect.status !== undefined && status !== expect.status) problems.push(`answers ${status}: ${text}`);
  for (const part of expect.result_contains ?? []) if (!text.includes(part)) problems.push(`lacks ${part}: ${text.slice(0, 300)}`);
  for (const part of expect.result_not_contains ?? []) if (text.includes(part)) problems.push(`contains ${part}: ${text.slice(0, 300)}`);
  if (expect.max_ms !== undefined && ms > expect.max_ms) problems.push(`took ${Math.round(ms)} ms`);
  return problems;
}

async function aftermath(box: Toolbox, net: SimulatedNetwork, expect: Expectation): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [what, path = ''] of expect.fs ?? []) if (existsSync(path) !== (what === 'exists')) problems.push(`${path} is not ${what}`);
  for (const [, name = ''] of expect.dns ?? []) if (net.lookups.includes(name.toLowerCase())) problems.push(`${name} was looked up`);
  for (const rule of expect.net ?? []) if (!holds(net, rule)) problems.push(`the network rule does not hold: ${JSON.stringify(rule)}`);
  if (expect.log_not_contains !== undefined) {
    const logs = await readdir(join(box.root, 'logs'));
    const text = (await Promise.all(logs.map((file) => readFile(join(box.root, 'logs', file), 'utf8')))).join('');
    for (const part of expect.log_not_contains) if (text.includes(part)) problems.push(`the log contains ${part}`);
  }
  return problems;
}

function holds(net: SimulatedNetwork, [kind, ...args]: readonly unknown[]): boolean {
  const [where, what] = args as unknown as readonly [string, unknown];
  const of = (target: string): SimulatedNetwork['requests'] => {
    const [host, port] = target.split(':');
    const isIt = (one: SimulatedNetwork['requests'][number]): boolean =>
      one.host.split(':')[0] === host && (port === undefined || one.port === Number(port));
    return net.requests.filter((one) => target === '*' || isIt(one));
  };
  switch (kind) {
    case 'no_connect':
      return !net.dialled(where);
    case 'header_absent':
      return of(where).every(({ headers }) => headers[String(what)] === undefined);
    case 'requests':
      return of(where).length === what;
    case 'max_requests':
      return of(where).length <= Number(what);
    case 'request_not_contains':
      return of(where).every(({ text }) => !text.includes(String(what)));
    case 'request':
      return of(where).some(
        ({ method, path, body }) =>
          `${method} ${path}` === what && body === ((args[2] as { readonly body?: string } | undefined)?.body ?? body),
      );
    default:
      throw new Error(`the runner knows no network rule ${String(kind)}`);
  }
}

/** Cases that ask the search service mean a stub of it, which is configured as such. */
const searchUrl = (routes: readonly StubRoute[]): string => {
  const stub = routes.find(({ host }) => host.startsWith('search.'));
  return stub === undefined ? '' : `http://${stub.host}/`;
};

function flattened(input: Input | readonly Input[]): readonly Input[] {
  const list = Array.isArray(input) ? (input as readonly Input[]) : [input as Input];
  return list.flatMap((one) => {
    if (one.kind === 'repeat') return Array.from({ length: one.n }, () => one.call);
    return one.kind === 'with_health' ? one.call : [one];
  });
}

function expanded<T>(value: T): T {
  if (Array.isArray(value)) return value.map(expanded) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { repeat } = value as { readonly repeat?: readonly [string, number] };
  if (Array.isArray(repeat)) return repeat[0].repeat(repeat[1]) as T;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expanded(inner)])) as T;
}

function filled<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') return value.replace(/\$(STUBPORT|SECRET|WS|A)(?![A-Z])/g, (name) => values[name] ?? name) as T;
  if (Array.isArray(value)) return value.map((one) => filled(one as unknown, values)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner as unknown, values)])) as T;
}

/** The cases, or undefined where the corpus is not at hand. */
export async function httpCases(directory: string): Promise<readonly HttpCase[] | undefined> {
  if (!existsSync(join(directory, 'http.json'))) return undefined;
  return JSON.parse(await readFile(join(directory, 'http.json'), 'utf8')) as readonly HttpCase[];
}
