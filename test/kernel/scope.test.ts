import { expect } from 'chai';
import { Scope } from '../../kernel/scope.ts';
import { fakeClock, breathe } from '../harness/fake-clock.ts';
import { rejection, signal } from './kernel-fixture.ts';

function scopeNamed(label: string, problems: string[] = [], clock = fakeClock()): Scope {
  return new Scope(label, { clock, report: (message) => void problems.push(message) });
}

describe('Scope', () => {
  it('undoes effects last first and waits for each before the next', async () => {
    const order: string[] = [];
    const slow = signal();
    const scope = scopeNamed('s');
    scope.own('a', () => void order.push('a'));
    scope.own('b', async () => {
      await slow.promise;
      order.push('b');
    });
    scope.own('c', () => void order.push('c'));

    const closing = scope.close();
    await breathe();
    expect(order).to.deep.equal(['c']);
    slow.resolve();
    await closing;
    expect(order).to.deep.equal(['c', 'b', 'a']);
  });

  it('undoes an effect once, whoever asks and however often', async () => {
    let undone = 0;
    const scope = scopeNamed('s');
    const dispose = scope.own('a', () => void (undone += 1));
    await dispose();
    await dispose();
    await Promise.all([scope.close(), scope.close()]);
    expect(undone).to.equal(1);
  });

  it('waits at close for an undo that somebody else has begun', async () => {
    const slow = signal();
    const scope = scopeNamed('s');
    const dispose = scope.own('a', () => slow.promise);
    void dispose();
    let isClosed = false;
    const closing = scope.close().then(() => void (isClosed = true));
    await breathe();
    expect(isClosed).to.equal(false);
    slow.resolve();
    await closing;
  });

  it('goes on after a failing undo and rejects with all failures, those of children too', async () => {
    const order: string[] = [];
    const scope = scopeNamed('s');
    scope.own('first', () => void order.push('first'));
    scope.own('bad', () => {
      throw new Error('one');
    });
    scope.child('child').own('worse', () => Promise.reject(new Error('two')));

    const error = await rejection(scope.close());
    expect(error).to.be.instanceOf(AggregateError);
    expect((error as AggregateError).errors.map((e: Error) => e.message)).to.deep.equal(['two', 'one']);
    expect(order).to.deep.equal(['first']);
  });

  it('goes on without an undo that hangs, and names it', async () => {
    const clock = fakeClock();
    const scope = scopeNamed('s', [], clock);
    let isUndone = false;
    scope.own('first', () => void (isUndone = true));
    scope.own('stuck', () => new Promise<void>(() => undefined));
    const closing = rejection(scope.close());
    await breathe();
    await clock.tick(30_000);
    expect(((await closing) as AggregateError).errors[0])
      .to.have.property('message')
      .that.includes('"stuck" of "s"');
    expect(isUndone).to.equal(true);
  });

  it('aborts its signal and those of its children before anything is undone', async () => {
    const scope = scopeNamed('s');
    const child = scope.child('c');
    let seen: readonly boolean[] = [];
    child.own('a', () => void (seen = [scope.signal.aborted, child.signal.aborted]));
    await scope.close();
    expect(seen).to.deep.equal([true, true]);
  });

  it('closes a child in its place in the order, or earlier by itself', async () => {
    const order: string[] = [];
    const scope = scopeNamed('s');
    scope.own('before', () => void order.push('before'));
    const child = scope.child('child');
    scope.own('after', () => void order.push('after'));
    child.own('inside', () => void order.push('inside'));
    const early = scope.child('early');
    early.own('early', () => void order.push('early'));
    await early.close();
    expect(scope.inspect().children.map(({ label }) => label)).to.deep.equal(['before', 'child', 'after']);
    await scope.close();
    expect(order).to.deep.equal(['early', 'after', 'inside', 'before']);
  });

  it('shows what it holds as a tree of labels', async () => {
    const scope = scopeNamed('plugin');
    scope.own('timer', () => undefined);
    scope.child('job').own('watch', () => undefined);
    expect(scope.inspect()).to.deep.equal({
      label: 'plugin',
      children: [
        { label: 'timer', children: [] },
        { label: 'job', children: [{ label: 'watch', children: [] }] },
      ],
    });
    await scope.close();
    expect(scope.inspect().children).to.deep.equal([]);
  });

  it('undoes at once what is handed over after it closed, and refuses it', async () => {
    const problems: string[] = [];
    const scope = scopeNamed('s', problems);
    await scope.close();
    let isUndone = false;
    expect(() => scope.own('late', () => void (isUndone = true)))
      .to.throw('"s" is closed and cannot take "late"')
      .with.property('code', 'ORYX_SCOPE_CLOSED');
    expect(isUndone).to.equal(true);
    expect(() => scope.own('bad', () => Promise.reject(new Error('no')))).to.throw();
    await breathe();
    expect(problems).to.have.length(1);
    expect(() => scope.child('c'))
      .to.throw()
      .with.property('code', 'ORYX_SCOPE_CLOSED');
  });
});
