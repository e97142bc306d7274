import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NotifyOutcome } from '../../../kernel/index.ts';
import { fakeClock, type TestHost, until } from '../../harness/index.ts';
import { addChannel, inState, later, messageOf, OK, pager, pagerHost, submit } from './outbox-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Writes what a process would have left that was killed while it was sending. */
const killedWhileSending = (host: TestHost, id: number) =>
  host.kernel.service('store').write({
    sql: "UPDATE notify_outbox SET state = 'sending', sender = 'an earlier process', attempts = 1, next_attempt_at = NULL WHERE id = ?",
    params: [id],
    expect: 1,
  });

describe('the outbox after a restart', function () {
  this.timeout(30_000);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'oryxos-outbox-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('goes on with what waited, and never again sends what may have arrived', async () => {
    const clock = fakeClock();
    const before = pager({ repeatable: true });
    before.always = () => later('down');
    const first = await pagerHost(before, { home, clock });
    await addChannel(first, 'team');
    const [cut, waiting] = [await submit(first, 'cut off'), await submit(first, 'waiting')];
    await until('the first attempt to be over', async () => (await messageOf(first, cut.id)).error);
    await killedWhileSending(first, cut.id);
    await first.stop();

    const after = pager({ repeatable: true });
    await using second = await pagerHost(after, { home, clock });
    await inState(second, waiting.id, 'delivered');
    expect(await messageOf(second, cut.id)).to.include({
      state: 'unknown',
      error: 'the server stopped while the message was being sent',
      attempts: 1,
    });
    expect(after.sent.map(({ content }) => content)).to.deep.equal(['waiting']);
    expect(await submit(second, 'cut off')).to.include({ id: cut.id, state: 'unknown' });
  });

  it('goes on with the part that is not sent yet', async () => {
    const clock = fakeClock();
    const before = pager({ maxSize: 6 });
    before.replies.push(OK, later('down'));
    const first = await pagerHost(before, { home, clock });
    await addChannel(first, 'team');
    const { id } = await submit(first, 'one 1\ntwo 2\nthree\n', 'team', 'k');
    await until('the second part to be postponed', async () => (await messageOf(first, id)).error);
    await first.stop();

    const after = pager({ maxSize: 6 });
    await using second = await pagerHost(after, { home, clock });
    await until('the rows to be looked at', () => clock.pending > 0);
    await clock.tick(SECOND);
    await inState(second, id, 'delivered');
    expect(after.sent.map(({ content, key }) => [key, content])).to.deep.equal([
      ['k/2', 'two 2\n'],
      ['k/3', 'three\n'],
    ]);
  });

  it('begins with what the rate has left', async () => {
    const clock = fakeClock();
    const rates = [{ count: 4, perMs: MINUTE }];
    const first = await pagerHost(pager({ rates }), { home, clock });
    await addChannel(first, 'team');
    for (const name of ['1', '2', '3']) await inState(first, (await submit(first, name)).id, 'delivered');
    await first.stop();

    const after = pager({ rates });
    await using second = await pagerHost(after, { home, clock });
    for (const name of ['4', '5']) await submit(second, name);
    await until('the one that is left', () => after.sent.length === 1);
    await clock.tick(MINUTE - 1);
    expect(after.sent).to.have.length(1);
    await clock.tick(1);
    await until('one more', () => after.sent.length === 2);
  });

  it('waits at a stop for the attempt under way, and begins no other', async () => {
    const device = pager();
    let release = (outcome: NotifyOutcome): void => void outcome;
    device.replies.push(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const first = await pagerHost(device, { home });
    await addChannel(first, 'team');
    const [sending, waiting] = [await submit(first, 'sending'), await submit(first, 'waiting')];
    await until('the attempt', () => device.sent.length === 1);
    const stopped = first.stop();
    await new Promise((resolve) => setImmediate(resolve));
    release(OK);
    await stopped;
    expect(device.sent).to.have.length(1);

    const after = pager();
    await using second = await pagerHost(after, { home });
    await inState(second, waiting.id, 'delivered');
    expect(await messageOf(second, sending.id)).to.include({ state: 'delivered' });
    expect(after.sent.map(({ content }) => content)).to.deep.equal(['waiting']);
  });

  it('does not wait for ever: an attempt that a stop cuts off may have arrived', async () => {
    const clock = fakeClock();
    const device = pager();
    device.always = (_message, _target, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const first = await pagerHost(device, { home, clock });
    await addChannel(first, 'team');
    const { id } = await submit(first, 'hello');
    await until('the attempt', () => device.sent.length === 1);
    let isStopped = false;
    const stopped = first.stop().then(() => {
      isStopped = true;
    });
    await until('the stop', async () => {
      await clock.tick(SECOND);
      return isStopped;
    });
    await stopped;
    await using second = await pagerHost(pager(), { home, clock });
    expect(await messageOf(second, id)).to.include({ state: 'unknown' });
  });

  it('leaves messages alone in a short-lived host, and delivers its own', async () => {
    const before = pager();
    before.always = () => later('down');
    const first = await pagerHost(before, { home });
    await addChannel(first, 'team');
    await addChannel(first, 'ops');
    const old = await submit(first, 'old');
    await until('the first attempt to be over', async () => (await messageOf(first, old.id)).error);
    await first.stop();

    const after = pager();
    await using second = await pagerHost(after, { home, mode: 'embedded' });
    const own = await submit(second, 'own', 'ops');
    await inState(second, own.id, 'delivered');
    expect(after.sent.map(({ content }) => content)).to.deep.equal(['own']);
    expect(await messageOf(second, old.id)).to.include({ state: 'pending' });
  });
});
