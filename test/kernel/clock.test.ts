import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { systemClock } from '../../kernel/clock.ts';

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
