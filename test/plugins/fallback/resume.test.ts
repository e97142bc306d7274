import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel, startHost, until } from '../../harness/index.ts';
import { says, stalls, startModelServer, status } from '../../harness/model-server.ts';
import { chained } from './chain.ts';

describe('a run that is taken up after a restart', function () {
  this.timeout(30_000);

  it('goes on at the candidate it had reached, and counts the attempt that was cut off', async () => {
    const home = await mkdtemp(join(tmpdir(), 'oryxos-fallback-'));
    await using first = await startModelServer();
    await using second = await startModelServer();
    first.fallback = status(503);
    second.will(stalls());
    second.fallback = says('There you are.');
    const options = {
      home,
      model: scriptedModel('unused'),
      files: { 'agents/a/AGENT.md': chained('a', ['p1', 'p2']) },
      config: {
        'oryxos.providers': [
          { name: 'p1', baseUrl: first.baseUrl },
          { name: 'p2', baseUrl: second.baseUrl },
        ],
      },
    };
    try {
      const host = await startHost(options);
      host.say('a', 'hi').catch(() => {});
      await second.received(1);
      await host.stop();

      await using again = await startHost(options);
      const turns = await until('the run to end', async () => {
        const rows = await again.rows('turns');
        return rows[0]?.['status'] === 'completed' ? rows : undefined;
      });
      expect(turns).to.have.length(1);
      expect([first.requests.length, second.requests.length]).to.deep.equal([1, 2]);
      const rows = await again.rows('llm_calls');
      expect(rows.map((row) => [row['provider'], row['outcome']])).to.deep.equal([
        ['p1', 'failed'],
        ['p2', 'interrupted'],
        ['p2', 'success'],
      ]);
      const { text } = await again.request('GET', '/metrics');
      expect(text).to.include('oryxos_llm_calls_total{provider="p2",model="m",outcome="interrupted"} 1\n');
      expect(text).to.include('oryxos_llm_calls_total{provider="p2",model="m",outcome="success"} 1\n');
      expect(text).to.include('oryxos_llm_calls_total{provider="p1",model="m",outcome="failed"} 0\n');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
