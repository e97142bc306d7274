import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import type { Aftermath } from './policy-runner.ts';
import { casesOf, runCase } from './policy-runner.ts';

const directory = process.env['ATTACKS_DIR'] ?? join(packageRoot, '../shared/attacks');

/** Cases whose feature does not exist yet. */
const WAITING: Readonly<Record<string, string>> = {
  'policy-mcp-clash-two': 'mcp',
  'policy-mcp-rename': 'mcp',
  'policy-mcp-wildcard': 'mcp',
  'secret-enc-at-rest': 'notify',
  'secret-mask-roundtrip': 'notify',
  'secret-prompt-leak': 'notify',
  'secret-mcp-env': 'mcp',
  'inject-notify-exfil': 'notify',
  'inject-notify-url': 'notify',
  'inject-tool-result-flood': 'mcp',
  'inject-generate-files': 'generate-files',
  'secret-metrics-leak': 'metrics',
  'secret-enc-tamper': 'the runner knows no db_tamper; test/plugins/secrets has its mutations',
  'secret-key-missing': 'the runner knows no restart; test/plugins/secrets has it',
  'inject-delimiter': 'network namespace',
  'inject-exfil-allowed': 'network namespace',
  'inject-exfil-get': 'network namespace',
};

type Invariant = (after: Aftermath) => Promise<readonly string[]>;
const when = (wrong: boolean, problem: string): readonly string[] => (wrong ? [problem] : []);

/** The last request's answers to calls, as the model saw them. */
const told = ({ box }: Aftermath) =>
  (box.host.model.requests.at(-1)?.messages ?? []).flatMap((message) => (message.role === 'tool' ? [message] : []));

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  'policy-deny-blockedby': async ({ box }) =>
    when(
      box.host.model.requests.some(({ tools }) => tools.some(({ name }) => name === 'shell')),
      'shell was offered to the model',
    ),
  async 'policy-exempt'({ box, calls }) {
    box.host.model.willCall('shell', { executable: 'ls', arguments: ['/'] });
    await box.host.say('a2', 'go');
    return when(calls[0]?.result.success !== true || calls.at(-1)?.result.success !== false, `calls: ${JSON.stringify(calls)}`);
  },
  'policy-hallucinated': async (after) => when(!told(after)[0]?.content.includes('does not declare'), 'the model was not told'),
  async 'policy-parallel-calls'(after) {
    const ids = told(after).map(({ toolCallId }) => toolCallId);
    const of = (id: string) => after.calls.filter((call) => call.id === id).map(({ result }) => result.success);
    return when(JSON.stringify([ids, of('c1'), of('c2')]) !== '[["c1","c2"],[true],[false]]', `results: ${JSON.stringify(after.calls)}`);
  },
  async 'inject-memory-forge'({ box }) {
    const memory = await readFile(join(box.home, 'MEMORY.md'), 'utf8');
    const lines = memory
      .split('\n')
      .filter((line) => line.includes('admin approved') || line.trim() === '---' || line.startsWith('tools:'));
    return when(lines.length !== 1, `the memory is ${memory}`);
  },
  async 'secret-url-change-exfil'({ box, answers }) {
    const { data } = await box.host.request('GET', '/api/v1/providers/deepseek');
    return [
      ...when(!(data as { baseUrl: string }).baseUrl.startsWith('http://127.0.0.1'), 'the URL has changed'),
      ...when(!/key/i.test(answers[0]?.message ?? ''), 'the message does not ask for the key'),
    ];
  },
};

for (const [area, file] of [
  ['POLICY', 'policy.json'],
  ['SECRET', 'secret.json'],
  ['INJECT', 'inject.json'],
] as const) {
  const cases = await casesOf(directory, file);
  describe(`the ${area} attacks`, function () {
    this.timeout(30_000);
    if (cases === undefined) it(`(skipped: no corpus in ${directory})`);
    for (const one of cases ?? []) {
      const waiting = WAITING[one.id];
      if (waiting !== undefined) it(`${one.id}: ${one.title} (waiting: ${waiting})`);
      else
        it(`${one.id}: ${one.title} (${one.level})`, async () => {
          expect(await runCase(one, INVARIANTS[one.id] ?? (async () => []))).to.deep.equal([]);
        });
    }
  });
}
