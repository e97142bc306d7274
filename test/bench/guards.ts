/**
 * What policy, sandbox and audit add to a tool call that reads a small file, in CPU time of the process: the same runs with and without them,
 * in turn. Run it with `node --import tsx test/bench/guards.ts [rounds]`.
 */
import { pathToFileURL } from 'node:url';
import audit from '../../plugins/audit/index.ts';
import policy from '../../plugins/policy/index.ts';
import sandbox from '../../plugins/sandbox/index.ts';
import type { Plugin } from '../../kernel/index.ts';
import { agentFile, startHost, type TestHost } from '../harness/index.ts';

const CALLS_PER_RUN = 32;
const RUNS_PER_ROUND = 40;
const WHITELIST = { allowedPaths: [], protect: true, allowedCommands: [], allowedDomains: [] };
const GUARDS: readonly (readonly [Plugin, unknown])[] = [
  [sandbox, WHITELIST],
  [policy, {}],
  [audit, {}],
];

/** CPU milliseconds per tool call. */
export interface GuardFigures {
  readonly with: number;
  readonly without: number;
  readonly added: number;
  readonly ratio: number;
}

/** @param rounds  how often each side is measured; the best round of each counts, as it is the one that other programs have disturbed least */
export async function benchGuards(rounds: number): Promise<GuardFigures> {
  const front = 'tools: [read_file]\nsettings: {on_fatal_tool_error: feedback}';
  await using host = await startHost({ agents: { t: agentFile('t', front) }, config: { 'logging.file': false } });
  await host.write('agents/t/small.txt', 'one line\n'.repeat(40));
  await host.request('POST', '/api/v1/tool-policy/rules', { ruleType: 'GLOBAL_DENY', pattern: 'shell' });
  const calls = Array.from({ length: CALLS_PER_RUN }, (_, n) => ({ name: 'read_file', arguments: { path: 'small.txt', limit: n + 1 } }));
  host.model.always(({ messages }) => (messages.at(-1)?.role === 'tool' ? { content: 'done' } : { calls }));
  await round(host);
  const guarded: number[] = [];
  const bare: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    guarded.push(await round(host));
    for (const [{ name }] of GUARDS) await host.kernel.unload(name);
    bare.push(await round(host));
    for (const [plugin, config] of GUARDS) await host.kernel.load(plugin, config);
  }
  const [on, off] = [Math.min(...guarded), Math.min(...bare)];
  return { with: on, without: off, added: on - off, ratio: on / off };
}

async function round(host: TestHost): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < RUNS_PER_ROUND; run += 1) {
    const outcome = await host.say('t', 'go');
    if (outcome.reply !== 'done') throw new Error(outcome.error?.message ?? outcome.reply);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (RUNS_PER_ROUND * CALLS_PER_RUN);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const figures = await benchGuards(Number(process.argv[2] ?? 9));
  const text = Object.entries(figures).map(([name, value]) => `${name} ${(value as number).toFixed(4)}`);
  process.stdout.write(`CPU ms per call of read_file: ${text.join(', ')}\n`);
}
