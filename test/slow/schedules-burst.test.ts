import { expect } from 'chai';
import { burst } from '../bench/schedules.ts';

const SCHEDULES = 10_000;
const MB = 1024 * 1024;

describe('a burst of schedules', () => {
  it(`${SCHEDULES} that are due at one instant all run, are dispatched in time and take less than 40 MB while they wait`, async function () {
    this.timeout(10 * 60_000);
    // A busy machine is late by itself.
    this.retries(2);
    const { ended, toldMs, waitingBytes } = await burst(SCHEDULES);
    expect(ended).to.deep.equal({ success: SCHEDULES });
    expect(toldMs).to.be.below(50);
    expect(waitingBytes).to.be.below(40 * MB);
  });
});
