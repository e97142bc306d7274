import { expect } from 'chai';
import { Barrier } from '../../kernel/barrier.ts';
import { breathe } from '../harness/fake-clock.ts';
import { rejection, signal } from './kernel-fixture.ts';

describe('Barrier', () => {
  it('lets a call wait while a change is under way', async () => {
    const barrier = new Barrier();
    const change = signal();
    const changing = barrier.during(() => change.promise);
    const order: string[] = [];
    const call = barrier.admit(async () => void order.push('call'));
    await breathe();
    expect(order).to.deep.equal([]);
    expect(barrier.isOpen).to.equal(false);
    order.push('changed');
    change.resolve();
    await Promise.all([changing, call]);
    expect(order).to.deep.equal(['changed', 'call']);
    expect(barrier.isOpen).to.equal(true);
  });

  it('lets a call pass that an admitted call makes, so that the two do not wait for each other', async () => {
    const barrier = new Barrier();
    const isClosed = signal();
    const outer = barrier.admit(async () => {
      await isClosed.promise;
      return barrier.admit(async () => 'inner');
    });
    const changing = barrier.during(async () => {
      isClosed.resolve();
      return outer;
    });
    expect(await changing).to.equal('inner');
  });

  it('does not let detached work of an ended call pass', async () => {
    const barrier = new Barrier();
    const isClosed = signal();
    const order: string[] = [];
    let detached: Promise<void> = Promise.resolve();
    await barrier.admit(async () => {
      detached = isClosed.promise.then(() => barrier.admit(async () => void order.push('detached')));
    });
    const change = signal();
    const changing = barrier.during(async () => {
      isClosed.resolve();
      await change.promise;
      order.push('changed');
    });
    await breathe();
    change.resolve();
    await Promise.all([changing, detached]);
    expect(order).to.deep.equal(['changed', 'detached']);
  });

  it('does not let detached work of a nested call pass once the outer call has ended', async () => {
    const barrier = new Barrier();
    const isClosed = signal();
    const order: string[] = [];
    let detached: Promise<void> = Promise.resolve();
    await barrier.admit(() =>
      barrier.admit(async () => {
        detached = isClosed.promise.then(() => barrier.admit(async () => void order.push('detached')));
      }),
    );
    const changing = barrier.during(async () => {
      isClosed.resolve();
      await breathe();
      order.push('changed');
    });
    await Promise.all([changing, detached]);
    expect(order).to.deep.equal(['changed', 'detached']);
  });

  it('does not admit what a change calls, also when an admitted call asked for the change', async () => {
    const barrier = new Barrier();
    const order: string[] = [];
    await barrier.admit(async () => {
      let listener: Promise<void> = Promise.resolve();
      await barrier.during(() => {
        listener = barrier.admit(async () => void order.push('listener'));
        order.push('changed');
      });
      await listener;
    });
    expect(order).to.deep.equal(['changed', 'listener']);
  });

  it('makes changes one at a time and opens again after one that failed', async () => {
    const barrier = new Barrier();
    const order: string[] = [];
    const first = barrier.during(async () => {
      await breathe();
      order.push('first');
      throw new Error('failed');
    });
    const second = barrier.during(() => void order.push('second'));
    expect((await rejection(first)).message).to.equal('failed');
    await second;
    expect(order).to.deep.equal(['first', 'second']);
    expect(await barrier.admit(async () => 'open')).to.equal('open');
  });
});
