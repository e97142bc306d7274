import { expect } from 'chai';
import { Gate } from '../../kernel/gate.ts';
import { fakeClock } from '../harness/fake-clock.ts';

describe('Gate', () => {
  it('is idle at once when nothing is in flight', async () => {
    expect(await new Gate(fakeClock()).drain(1_000)).to.deep.equal([]);
  });

  it('waits until the last call has left, and sets no timer that outlives the wait', async () => {
    const clock = fakeClock();
    const gate = new Gate(clock);
    const leave = ['a', 'b'].map((label) => gate.enter(label));
    const drained = gate.drain(1_000);
    leave[0]?.();
    leave[0]?.();
    await clock.tick(999);
    leave[1]?.();
    expect(await drained).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it('gives up after the time and names the calls still running, oldest first', async () => {
    const clock = fakeClock();
    const gate = new Gate(clock);
    const leave = gate.enter('left');
    gate.enter('old');
    gate.enter('young');
    const drained = gate.drain(1_000);
    leave();
    await clock.tick(1_000);
    expect(await drained).to.deep.equal(['old', 'young']);
  });

  it('reports without waiting when the time is 0', async () => {
    const clock = fakeClock();
    const gate = new Gate(clock);
    gate.enter('a');
    expect(await gate.drain(0)).to.deep.equal(['a']);
    expect(clock.pending).to.equal(0);
  });
});
