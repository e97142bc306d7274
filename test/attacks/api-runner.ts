/** Words of the area API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentFile } from '../harness/index.ts';
import { until } from '../harness/until.ts';
import type { AreaWords } from './case-runner.ts';
import type { Scene } from './expectations.ts';

const when = (wrong: boolean, problem: string): readonly string[] => (wrong ? [problem] : []);

const whitelistUnchanged = async ({ stage }: Scene): Promise<readonly string[]> => {
  const { data } = await stage.host.request('GET', '/api/v1/sandbox/whitelist');
  const lists = JSON.stringify(data);
  return when(lists.includes('bash') || !lists.includes(stage.meanings['A'] ?? '?'), `the whitelist is ${lists}`);
};

/** What the API cases need beside the common words. */
export const apiWords: AreaWords = {
  invariants: {
    // Every rejection is checked for the envelope.
    'envelope {code!=0,message,data:null,timestamp}': ({ observations }) =>
      when(
        observations.every(({ outcome }) => outcome === 'allow'),
        'nothing was rejected',
      ),
    'whitelist unchanged': whitelistUnchanged,
    'no extra rows, whitelist unchanged': whitelistUnchanged,
    'a2 untouched': ({ stage }) =>
      when(readFileSync(join(stage.host.root, 'agents/a2/AGENT.md'), 'utf8') !== agentFile('a2'), 'a2 was changed'),
    'agent a1 still exists, no schedule ran': async ({ stage }) =>
      when((await stage.host.request('GET', '/api/v1/agents/a1')).status !== 200, 'a1 is gone'),
    'agent w1 listed with status broken and the reason': async ({ stage }) => {
      const found = await until('w1 is listed', async () => {
        const { data } = await stage.host.request('GET', '/api/v1/agents');
        return (data as readonly { readonly name: string; readonly status: string; readonly error: unknown }[]).find(
          ({ name }) => name === 'w1',
        );
      });
      return when(found.status !== 'broken' || !found.error, `w1 is ${JSON.stringify(found)}`);
    },
    '({}).polluted and ({}).isAdmin are undefined; no field is inherited': () => {
      const plain = {} as Readonly<Record<string, unknown>>;
      return when(plain['polluted'] !== undefined || plain['isAdmin'] !== undefined, 'every object has new fields');
    },
  },
};
