import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { systemClock } from '../../kernel/clock.ts';
import { fakeClock } from '../harness/index.ts';

describe('systemClock', () => {
  it('calls back once after the delay, and never after it was cancelled', async () => {
    const clock = systemClock();
    let calls = 0;
    const cancel = clock.after(1, () => void (calls += 1));
    cancel();
    await new Promise<void>((resolve) => void clock.after(5, resolve));
    expect(calls).to.equal(0);
  });

  it('takes delays that are longer than one Node timer', () => {
    const timers = useFakeTimers();
    try {
      const days = 60 * 24 * 60 * 60 * 1_000;
      let isCalled = false;
      systemClock().after(days, () => void (isCalled = true));
      timers.tick(days - 1);
      expect(isCalled).to.equal(false);
      timers.tick(1);
      expect(isCalled).to.equal(true);
    } finally {
      timers.restore();
    }
  });

  it('never goes backwards on its monotonic scale', () => {
    const clock = systemClock();
    const first = clock.monotonic();
    expect(clock.monotonic()).to.be.at.least(first);
    expect(clock.now()).to.be.closeTo(Date.now(), 1_000);
  });
});

describe('the clock of tests', () => {
  it('never goes backwards, also when it is moved on while it is being moved', async () => {
    const clock = fakeClock();
    const seen: number[] = [];
    let inner = Promise.resolve();
    clock.after(900, () => (inner = clock.tick(700)));
    const outer = clock.tick(1_000);
    for (const tick of [outer, inner]) {
      await tick;
      seen.push(clock.monotonic());
    }
    await inner;
    seen.push(clock.monotonic());
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).to.equal(1_600);
  });
});
