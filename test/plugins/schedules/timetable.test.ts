import { expect } from 'chai';
import type { Clock } from '../../../kernel/index.ts';
import { Heap } from '../../../plugins/schedules/heap.ts';
import { Timetable } from '../../../plugins/schedules/timetable.ts';
import { fakeClock } from '../../harness/index.ts';
import { randomFrom } from './reference.ts';

const NOON = Date.UTC(2026, 10, 30, 12);

describe('the timetable', () => {
  it('tells each entry in its order and at its instant, moved ones once and removed ones never', async () => {
    const clock = fakeClock(NOON);
    const told: string[] = [];
    const timetable = new Timetable(clock, {
      onDue: (id) => told.push(`${id} ${(clock.now() - NOON) / 1000}`),
      onPutBack: () => undefined,
    });
    timetable.start();
    timetable.set('a', NOON + 5_000);
    timetable.set('b', NOON + 3_000);
    timetable.set('c', NOON + 4_000);
    timetable.set('a', NOON + 90_000);
    timetable.remove('c');
    await clock.tick(200_000);
    expect(told).to.deep.equal(['b 3', 'a 90']);
    timetable.close();
    expect(clock.pending).to.equal(0);
  });

  it('holds one timer, of at most 30 s, and none when nothing waits', async () => {
    const delays: number[] = [];
    const fake = fakeClock(NOON);
    const clock: Clock = { ...fake, after: (delayMs, fn) => (delays.push(delayMs), fake.after(delayMs, fn)) };
    const timetable = new Timetable(clock, { onDue: () => undefined, onPutBack: () => undefined });
    timetable.start();
    expect(fake.pending).to.equal(0);
    for (let index = 0; index < 1_000; index += 1) timetable.set(`s${index}`, NOON + 60 * 86_400_000 + index);
    expect(fake.pending).to.equal(1);
    await fake.tick(120_000);
    expect(fake.pending).to.equal(1);
    expect(Math.max(...delays)).to.equal(30_000);
    timetable.close();
  });

  it('forgets moved entries instead of keeping them until their time', () => {
    const timetable = new Timetable(fakeClock(NOON), { onDue: () => undefined, onPutBack: () => undefined });
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 500_000; index += 1) timetable.set('same', NOON + 86_400_000 + index);
    expect(process.memoryUsage().heapUsed - before).to.be.below(30_000_000);
    expect(timetable.size).to.equal(1);
  });

  it('keeps its heap in order', () => {
    const random = randomFrom(7);
    const heap = new Heap();
    const times = Array.from({ length: 2_000 }, () => random(500));
    for (const [index, at] of times.entries()) heap.push({ id: String(index), at });
    const taken: number[] = [];
    for (let entry = heap.first; entry !== undefined; entry = heap.first) {
      taken.push(entry.at);
      heap.pop();
    }
    expect(taken).to.deep.equal(times.toSorted((a, b) => a - b));
  });
});
