import { expect } from 'chai';
import { Lanes, type Release } from '../../../plugins/engine/lanes.ts';
import { breathe } from '../../harness/fake-clock.ts';

/** Enters lanes and notes who was admitted. */
function visitor(lanes: Lanes): {
  enter: (session: string, name: string) => void;
  admitted: string[];
  leave: (name: string) => Promise<void>;
} {
  const admitted: string[] = [];
  const releases = new Map<string, Release>();
  return {
    admitted,
    enter: (session, name) => {
      void lanes.enter(session).then((release) => {
        admitted.push(name);
        releases.set(name, release);
      });
    },
    leave: async (name) => {
      releases.get(name)?.();
      await breathe();
    },
  };
}

describe('lanes', () => {
  it('admit one at a time per session, in order of arrival', async () => {
    const { enter, admitted, leave } = visitor(new Lanes(8));
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    enter('b', 'b1');
    await breathe();
    expect(admitted).to.deep.equal(['a1', 'b1']);
    await leave('a1');
    await leave('a2');
    expect(admitted).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
  });

  it('share the slots fairly: a busy session does not hold up another', async () => {
    const { enter, admitted, leave } = visitor(new Lanes(1));
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    enter('b', 'b1');
    await breathe();
    await leave('a1');
    expect(admitted).to.deep.equal(['a1', 'b1']);
    await leave('b1');
    expect(admitted).to.deep.equal(['a1', 'b1', 'a2']);
  });

  it('count who waits, and forget idle sessions', async () => {
    const lanes = new Lanes(1);
    const { enter, leave } = visitor(lanes);
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    await breathe();
    expect(lanes.waiting('a')).to.equal(2);
    for (const name of ['a1', 'a2', 'a3']) await leave(name);
    expect(lanes.waiting('a')).to.equal(0);
    expect(lanes.isFree('a')).to.equal(true);
  });
});
