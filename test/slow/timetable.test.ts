import { expect } from 'chai';
import { systemClock } from '../../kernel/index.ts';
import { Timetable } from '../../plugins/schedules/timetable.ts';
import { until } from '../harness/index.ts';

/** On the real clock, so it stands apart: a busy machine is late by itself. */
describe('the timetable on the real clock', () => {
  it('tells 10 000 entries of one second within 50 ms of their instants', async function () {
    this.timeout(30_000);
    this.retries(4);
    const clock = systemClock();
    const late: number[] = [];
    const at = new Map<string, number>();
    const timetable = new Timetable(clock, { onDue: (id) => late.push(clock.now() - (at.get(id) ?? 0)), onPutBack: () => undefined });
    const start = clock.now() + 200;
    for (let index = 0; index < 10_000; index += 1) {
      at.set(`s${index}`, start + (index % 1_000));
      timetable.set(`s${index}`, start + (index % 1_000));
    }
    timetable.start();
    await until('all to be told', () => late.length === 10_000);
    timetable.close();
    expect(late.toSorted((a, b) => a - b)[9_900]).to.be.below(50);
  });
});
