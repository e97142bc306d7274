import { expect } from 'chai';
import { breathe } from '../../harness/fake-clock.ts';
import { fakeClock, startHost, type TestHost } from '../../harness/index.ts';
import { eventually, NOON, TEST_MS } from './fixture.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Row {
  readonly schedule?: string;
  readonly days: number;
  readonly status?: string;
  /** Days since the last slot, for a row of several. */
  readonly lastDays?: number;
}

/** Rows that tell of slots so many days before noon. */
async function fill(host: TestHost, rows: readonly Row[]): Promise<void> {
  await host.kernel.service('store').write(
    ...rows.map(({ schedule = 's', days, status = 'success', lastDays = days }, index) => ({
      sql: 'INSERT INTO task_executions (schedule_id, slot, last_slot, status, started_at) VALUES (?, ?, ?, ?, ?)',
      params: [schedule, NOON - days * DAY + index, NOON - lastDays * DAY + index, status, NOON - days * DAY],
    })),
  );
}

describe('what became of slots', function () {
  this.timeout(TEST_MS);
  const left = async (host: TestHost): Promise<readonly string[]> =>
    (await host.rows('task_executions')).map(
      (row) => `${String(row['schedule_id'])} ${String(row['status'])} ${(NOON - Number(row['started_at'])) / DAY}`,
    );

  it('is forgotten after 90 days, but for runs that are on and the newest row of each schedule', async () => {
    const clock = fakeClock(NOON);
    await using host = await startHost({ clock });
    await fill(host, [
      { days: 200, status: 'running' },
      { days: 150, status: 'skipped', lastDays: 80 },
      { days: 100 },
      { days: 91, status: 'missed' },
      { days: 89 },
      { schedule: 'retired', days: 400 },
      { schedule: 'retired', days: 300 },
    ]);
    await clock.jump(60_000);
    await eventually('the old rows to go', async () => (await left(host)).length <= 4);
    expect(await left(host)).to.deep.equal(['s running 200', 's skipped 150', 's success 89', 'retired success 300']);
  });

  it('goes in slices, and every hour again', async () => {
    const clock = fakeClock(NOON);
    await using host = await startHost({ clock, config: { 'schedules.retention-days': 7 } });
    await fill(host, [...Array.from({ length: 1_200 }, () => ({ days: 8 })), { days: 1 }]);
    await clock.jump(60_000);
    await eventually('one slice to go', async () => (await left(host)).length === 701);
    await eventually('the end', async () => {
      await clock.jump(100);
      return (await left(host)).length === 1;
    });
    await fill(host, [{ days: 9 }, { days: 0 }]);
    await clock.jump(HOUR);
    await eventually('the next hour', async () => (await left(host)).length === 2);
  });

  it('is kept for ever when the days are 0', async () => {
    const clock = fakeClock(NOON);
    await using host = await startHost({ clock, config: { 'schedules.retention-days': 0 } });
    await fill(host, [{ days: 10_000 }, { days: 1 }]);
    for (let hour = 0; hour < 3; hour += 1) await clock.jump(HOUR);
    await breathe();
    expect(await left(host)).to.have.length(2);
  });
});
