import { expect } from 'chai';
import type { FakeClock, TestHost } from '../../harness/index.ts';
import { breathe } from '../../harness/fake-clock.ts';
import { fakeClock, startHost, until } from '../../harness/index.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What a busy machine may take. */
const WAIT_MS = 60_000;

/** Rows that were written `days` days ago. */
async function fill(host: TestHost, clock: FakeClock, days: number, count: number): Promise<void> {
  const at = clock.now() - days * DAY_MS;
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  await host.kernel.service('store').write(
    {
      sql: `INSERT INTO llm_calls (session_id, provider, model, outcome, success, duration_ms, created_at)
        ${numbers} SELECT 's', 'p', 'm', 'success', 1, 1, ? FROM n`,
      params: [count, at],
    },
    {
      sql: `INSERT INTO tool_invocations (session_id, tool_name, success, duration_ms, created_at) ${numbers} SELECT 's', 't', 1, 1, ? FROM n`,
      params: [count, at],
    },
  );
}

describe('audit retention', function () {
  this.timeout(120_000);
  const countOf = async (host: TestHost): Promise<readonly number[]> => [
    (await host.rows('llm_calls')).length,
    (await host.rows('tool_invocations')).length,
  ];

  it('removes what is older than 90 days in slices, and keeps the rest', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock });
    await fill(host, clock, 91, 1_200);
    await fill(host, clock, 89, 10);
    await clock.jump(59_000);
    expect(await countOf(host)).to.deep.equal([1_210, 1_210]);
    await clock.tick(1_000);
    await until('one slice', async () => (await host.rows('llm_calls')).length < 1_210, WAIT_MS);
    expect(await countOf(host)).to.deep.equal([710, 1_110]);
    await until(
      'the end',
      async () => {
        await clock.tick(100);
        return (await host.rows('tool_invocations')).length === 10;
      },
      WAIT_MS,
    );
    expect(await countOf(host)).to.deep.equal([10, 10]);
  });

  it('looks again every hour', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock, config: { 'audit.retention-days': 7 } });
    await clock.jump(60_000);
    await breathe();
    await fill(host, clock, 8, 5);
    await clock.jump(HOUR_MS - 1_000);
    expect(await countOf(host)).to.deep.equal([5, 5]);
    await clock.tick(1_000);
    await until('the rows to go', async () => (await countOf(host)).every((count) => count === 0), WAIT_MS);
  });

  it('keeps everything when the days are 0', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock, config: { 'audit.retention-days': 0 } });
    await fill(host, clock, 10_000, 3);
    for (let hour = 1; hour <= 3; hour += 1) await clock.jump(HOUR_MS);
    expect(await countOf(host)).to.deep.equal([3, 3]);
  });

  it('survives a database that takes no writes, and tries again', async () => {
    const clock = fakeClock();
    await using host = await startHost({ clock });
    await fill(host, clock, 100, 2);
    const store = host.kernel.service('store');
    const abort = `BEGIN SELECT RAISE(ABORT, 'not now'); END`;
    await store.write({ sql: `CREATE TRIGGER stuck BEFORE DELETE ON llm_calls ${abort}`, params: [] });
    await clock.jump(61_000);
    await breathe();
    expect(await countOf(host)).to.deep.equal([2, 2]);
    await store.write({ sql: 'DROP TRIGGER stuck', params: [] });
    await clock.jump(HOUR_MS);
    await until('the rows to go', async () => (await countOf(host)).every((count) => count === 0), WAIT_MS);
  });
});
