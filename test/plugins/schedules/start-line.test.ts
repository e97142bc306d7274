import { expect } from 'chai';
import { StartLine } from '../../../plugins/schedules/start-line.ts';
import { breathe } from '../../harness/fake-clock.ts';
import { door } from './fixture.ts';

/** Runs that tell when they start, and go on until they are told to begin or to end. */
function runs(line: StartLine) {
  const started: string[] = [];
  const open = new Map<string, { readonly begin: () => void; readonly end: () => void }>();
  const enter = (schedule: string, name = schedule): void =>
    line.enter(schedule, (begun) => {
      started.push(name);
      const gate = door();
      open.set(name, { begin: begun, end: () => gate.open() });
      return gate.closed;
    });
  return { started, enter, begin: (name: string) => open.get(name)?.begin(), end: (name: string) => open.get(name)?.end() };
}

describe('the line of claimed runs', () => {
  it('lets 32 be on their way, and the next one go when one has begun or is over', async () => {
    const { started, enter, begin, end } = runs(new StartLine());
    for (let index = 0; index < 40; index += 1) enter(`s${index}`);
    expect(started).to.have.length(32);
    begin('s3');
    expect(started.slice(32)).to.deep.equal(['s32']);
    end('s0');
    end('s3');
    await breathe();
    expect(started.slice(32)).to.deep.equal(['s32', 's33']);
  });

  it('starts one at a time of each schedule, in their order, and no other schedule waits for that', async () => {
    const line = new StartLine();
    const { started, enter, begin, end } = runs(line);
    for (let index = 0; index < 50; index += 1) enter('slow', `slow${index}`);
    enter('quick');
    expect(started).to.deep.equal(['slow0', 'quick']);
    expect(line.waiting('slow')).to.equal(49);
    begin('slow0');
    await breathe();
    expect(started).to.have.length(2);
    end('slow0');
    await breathe();
    expect(started).to.deep.equal(['slow0', 'quick', 'slow1']);
    expect([line.has('slow'), line.has('none'), line.waiting('quick')]).to.deep.equal([true, false, 0]);
    end('quick');
    await breathe();
    expect(line.has('quick')).to.equal(false);
  });

  it('starts nothing more once it is closed', async () => {
    const line = new StartLine();
    const { started, enter, end } = runs(line);
    enter('a', 'a1');
    enter('a', 'a2');
    line.close();
    end('a1');
    enter('b');
    await breathe();
    expect(started).to.deep.equal(['a1']);
  });
});
