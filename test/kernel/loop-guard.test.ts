import { expect } from 'chai';
import { LoopGuard, type ObservedCall } from '../../kernel/loop-guard.ts';

const same: ObservedCall = { name: 'ping', argumentsJson: '{}', result: 'pong' };

describe('the loop guard', () => {
  it('trips at the third answer in a row that repeats a call with its result', () => {
    const guard = new LoopGuard(3);
    expect([guard.observe([same]), guard.observe([same]), guard.observe([same])]).to.deep.equal([false, false, true]);
  });

  it('counts equal calls inside one answer once', () => {
    const guard = new LoopGuard(3);
    expect(guard.observe([same, same, same, same])).to.equal(false);
  });

  it('starts again when the result changes or the call pauses', () => {
    const guard = new LoopGuard(3);
    guard.observe([same]);
    guard.observe([same]);
    expect(guard.observe([{ ...same, result: 'other' }])).to.equal(false);
    expect(guard.observe([same])).to.equal(false);
    expect(guard.observe([same])).to.equal(false);
  });
});
