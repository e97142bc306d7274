import { expect } from 'chai';
import type { Clock } from '../../../kernel/index.ts';
import { fakeClock, type FakeClock, startHost } from '../../harness/index.ts';
import { eventually, executions, NOON, only, scheduled, settled, TEST_MS } from './fixture.ts';

const SECOND = 1_000;
const MINUTE = 60_000;

/** A machine whose wall clock can be set while its timers go on. */
function machine(startAt: number): { readonly clock: Clock; readonly time: FakeClock; readonly set: (byMs: number) => void } {
  const time = fakeClock(startAt);
  let shift = 0;
  const clock: Clock = { now: () => time.now() + shift, monotonic: () => time.monotonic(), after: (delay, fn) => time.after(delay, fn) };
  return {
    clock,
    time,
    set: (byMs) => {
      shift += byMs;
    },
  };
}

const hostOn = (clock: Clock, entry: string) => startHost({ clock, agents: { w1: scheduled('w1', entry) } });
const every10 = 'key: t, name: T, cron: "0 */10 * * * *", zone: UTC';

describe('schedules and the clock of the machine', function () {
  this.timeout(TEST_MS);

  it('a machine that slept through five slots runs the newest within half a minute and records the others', async () => {
    const { clock, time, set } = machine(NOON + MINUTE);
    await using host = await hostOn(clock, every10);
    const { scheduleId: id } = await only(host);
    set(55 * MINUTE);
    await time.tick(30 * SECOND);
    const rows = await settled(host, id, 2);
    expect(rows.map(({ status, count }) => `${status} ${count}`)).to.deep.equal(['success 1', 'missed 4']);
    expect(rows[0]).to.include({ slotAt: '2026-11-30T12:50:00.000Z' });
    expect(rows[1]).to.include({ reason: 'the server came too late' });
    await time.jump(4 * MINUTE);
    expect((await settled(host, id, 3))[0]).to.include({ slotAt: '2026-11-30T13:00:00.000Z' });
  });

  it('a clock that jumps three days runs nothing that is older than max_delay', async () => {
    const { clock, time, set } = machine(NOON);
    await using host = await hostOn(clock, 'key: d, name: D, cron: "0 0 8 * * *", zone: UTC');
    const { scheduleId: id } = await only(host);
    set(3 * 24 * 60 * MINUTE);
    await time.tick(30 * SECOND);
    const rows = await settled(host, id, 1);
    expect(rows.map(({ status, count }) => `${status} ${count}`)).to.deep.equal(['missed 3']);
    expect(host.model.requests).to.have.length(0);
  });

  it('a clock that was put back does not silence schedules, and no slot runs twice', async () => {
    const { clock, time, set } = machine(NOON + 9 * MINUTE);
    await using host = await hostOn(clock, every10);
    const { scheduleId: id } = await only(host);
    await time.tick(MINUTE);
    await settled(host, id, 1);
    set(-25 * MINUTE);
    await time.tick(30 * SECOND);
    await eventually(
      'the next run to come nearer',
      async () => (await host.rows('scheduled_tasks'))[0]?.['evaluated_at'] === NOON - 15 * MINUTE + 30 * SECOND,
    );
    await time.jump(4 * MINUTE + 30 * SECOND);
    await settled(host, id, 2);
    // The slot of 12:00 has run already.
    await time.jump(10 * MINUTE);
    await time.jump(10 * MINUTE);
    await settled(host, id, 3);
    await time.jump(10 * MINUTE);
    const rows = await settled(host, id, 4);
    const slots = rows.map(({ slotAt }) => slotAt.slice(11, 16));
    expect(slots.toSorted((a, b) => (a < b ? -1 : 1))).to.deep.equal(['11:50', '12:00', '12:10', '12:20']);
    expect(await executions(host, id)).to.have.length(4);
  });
});
