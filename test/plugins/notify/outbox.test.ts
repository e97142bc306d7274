import { expect } from 'chai';
import type { LogLine, NotifyOutcome } from '../../../kernel/index.ts';
import { definePlugin } from '../../../kernel/index.ts';
import { fakeClock, until } from '../../harness/index.ts';
import { addChannel, inState, later, messageOf, OK, pager, pagerHost, submit } from './outbox-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const contents = (device: { readonly sent: readonly { readonly content: string }[] }) => device.sent.map(({ content }) => content);

describe('the outbox', function () {
  this.timeout(30_000);

  it('delivers a message to the channel and says so', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const { id, state } = await submit(host, 'hello');
    expect(state).to.equal('pending');
    const settled = await host.kernel.service('notifications').settled(id, 5_000);
    expect(settled).to.include({ state: 'delivered', channel: 'team', parts: 1, partsSent: 1, attempts: 1, error: null });
    expect(device.sent).to.have.length(1);
    expect(device.sent[0]).to.include({ content: 'hello', key: 'key of hello', channel: 'team', url: 'https://pager.example.test/team' });
  });

  it('takes the same key once, however often it comes and whatever has become of the channel', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const all = await Promise.all(Array.from({ length: 20 }, () => submit(host, 'once')));
    expect(new Set(all.map(({ id }) => id)).size).to.equal(1);
    await inState(host, all[0]?.id ?? 0, 'delivered');
    await host.request('DELETE', '/api/v1/notify-channels/team');
    expect(await submit(host, 'once')).to.include({ id: all[0]?.id, state: 'delivered' });
    expect(device.sent).to.have.length(1);
  });

  it('refuses unknown channels, nothing, and more than 1 MiB, and adds nothing then', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    const refusal = async (content: string, channel: string): Promise<unknown> =>
      submit(host, content, channel).catch((error: unknown) => error);
    expect(await refusal('x', 'nobody')).to.have.property('code', 'ORYX_NOT_FOUND');
    expect(await refusal('x', 'https://attacker.example.test/hook')).to.have.property('code', 'ORYX_NOT_FOUND');
    expect(await refusal(' \n', 'team')).to.have.property('code', 'ORYX_INVALID_INPUT');
    expect(await refusal('汉'.repeat(349_526), 'team')).to.have.property('code', 'ORYX_INVALID_INPUT');
    expect(await host.rows('notify_outbox')).to.have.length(0);
    const { id } = await submit(host, '汉'.repeat(349_525));
    await inState(host, id, 'delivered');
  });

  it('keeps the order in a channel, one at a time, and does not let channels wait for each other', async () => {
    const device = pager();
    let running = 0;
    let most = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    device.always = async (_message, { channel }) => {
      if (channel === 'slow') {
        await held;
        return OK;
      }
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return OK;
    };
    await using host = await pagerHost(device);
    await addChannel(host, 'slow');
    const slow = await submit(host, 'slow one', 'slow');
    await until('the slow one to be sent', () => device.sent.length === 1);
    const ids: number[] = [];
    for (let number = 0; number < 30; number += 1) ids.push((await submit(host, `m${number}`)).id);
    await inState(host, ids.at(-1) ?? 0, 'delivered');
    expect(contents(device).slice(1)).to.deep.equal(ids.map((_, number) => `m${number}`));
    expect(most).to.equal(1);
    expect(await messageOf(host, slow.id)).to.include({ state: 'sending' });
    release();
    await inState(host, slow.id, 'delivered');
  });

  it('tries again what may pass, after 1, 2, 4 … seconds and at most 10 minutes, and fails after 24 hours', async () => {
    const clock = fakeClock();
    const start = clock.now();
    const device = pager();
    device.always = () => later('the receiver is busy');
    await using host = await pagerHost(device, { clock });
    const { id } = await submit(host, 'hello');
    await until('the first attempt to be over', async () => (await messageOf(host, id)).nextAttemptAt);
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
      const before = device.sent.length;
      await clock.tick(seconds * SECOND - 1);
      expect(device.sent, `${seconds} s are not over`).to.have.length(before);
      await clock.tick(1);
      await until('the next attempt to be over', async () => {
        const { attempts, nextAttemptAt } = await messageOf(host, id);
        return attempts === before + 1 && nextAttemptAt !== null;
      });
    }
    const waiting = await messageOf(host, id);
    expect(waiting).to.include({ state: 'pending', error: 'the receiver is busy', attempts: 13 });
    await clock.jump(24 * HOUR - (clock.now() - start) - 1);
    await until('the attempt after the jump', async () => (await messageOf(host, id)).attempts === 14);
    await until('that to be over', async () => (await messageOf(host, id)).nextAttemptAt);
    await clock.tick(1);
    const failed = await inState(host, id, 'failed');
    expect(failed.error).to.equal('not delivered within 24 hours: the receiver is busy');
    expect(failed.endedAt).to.equal(new Date(start + 24 * HOUR).toISOString());
  });

  it('honours when the receiver wants it again, up to an hour', async () => {
    const clock = fakeClock();
    const device = pager();
    device.replies.push(later('slow down', 7 * SECOND), later('slow down', 5 * HOUR));
    await using host = await pagerHost(device, { clock });
    const { id } = await submit(host, 'hello');
    const attempted = (times: number) =>
      until(`attempt ${times}`, async () => {
        const { attempts, state } = await messageOf(host, id);
        return attempts === times && state !== 'sending';
      });
    await attempted(1);
    await clock.tick(7 * SECOND - 1);
    expect(device.sent).to.have.length(1);
    await clock.tick(1);
    await attempted(2);
    await clock.tick(HOUR - 1);
    expect(device.sent).to.have.length(2);
    await clock.tick(1);
    await inState(host, id, 'delivered');
  });

  it('does not repeat what was refused or may have arrived, unless the receiver knows what it has seen', async () => {
    const device = pager();
    const unknown: NotifyOutcome = { ok: false, kind: 'unknown', message: 'no answer' };
    device.replies.push({ ok: false, kind: 'refused', message: 'bad token', code: '19001' }, unknown, () => {
      throw new Error('cannot reach https://pager.example.test/team?key=hidden');
    });
    await using host = await pagerHost(device);
    const [refused, silent, broken] = [await submit(host, 'a'), await submit(host, 'b'), await submit(host, 'c')];
    expect(await inState(host, refused.id, 'failed')).to.include({ error: 'bad token', errorCode: '19001', attempts: 1 });
    expect(await inState(host, silent.id, 'unknown')).to.include({ error: 'no answer', attempts: 1 });
    expect((await inState(host, broken.id, 'unknown')).error).to.equal('the adapter "pager" failed while it was sending');
    expect(contents(device)).to.deep.equal(['a', 'b', 'c']);

    const clock = fakeClock();
    const careful = pager({ repeatable: true });
    careful.replies.push(unknown);
    await using other = await pagerHost(careful, { clock });
    const { id } = await submit(other, 'd');
    await until('the first attempt to be over', async () => (await messageOf(other, id)).nextAttemptAt);
    await clock.tick(SECOND);
    await inState(other, id, 'delivered');
    expect(careful.sent.map(({ key }) => key)).to.deep.equal(['key of d', 'key of d']);
  });

  it('takes what an adapter returns that is no outcome for unknown, and a number for a code', async () => {
    const device = pager();
    const odd = [
      undefined,
      'ok',
      { ok: 'yes' },
      { ok: false },
      { ok: false, kind: 'never', message: 'x' },
      { ok: false, kind: 'refused', message: 'x', code: {} },
    ];
    device.replies.push(...odd.map((outcome) => () => outcome as NotifyOutcome), {
      ok: false,
      kind: 'refused',
      message: 'x',
      code: 7,
    } as unknown as NotifyOutcome);
    await using host = await pagerHost(device);
    for (let number = 0; number < odd.length; number += 1) {
      const { id } = await submit(host, `odd ${number}`);
      expect((await inState(host, id, 'unknown')).error).to.equal('the adapter "pager" returned something that is not an outcome');
    }
    const { id } = await submit(host, 'number');
    expect(await inState(host, id, 'failed')).to.include({ errorCode: '7' });
  });

  it('gives up a message that nobody is sending any more', async () => {
    const clock = fakeClock();
    const device = pager();
    device.replies.push(later('busy'));
    await using host = await pagerHost(device, { clock });
    const [lost, next] = [await submit(host, 'lost'), await submit(host, 'next')];
    await until('the first attempt to be over', async () => (await messageOf(host, lost.id)).error);
    const sql = "UPDATE notify_outbox SET state = 'sending', sender = 'somebody', next_attempt_at = NULL WHERE id = ?";
    await host.kernel.service('store').write({ sql, params: [lost.id], expect: 1 });
    const settled = host.kernel.service('notifications').settled(lost.id, 10 * MINUTE);
    await clock.tick(59 * SECOND);
    expect(await messageOf(host, lost.id)).to.include({ state: 'sending' });
    await clock.tick(2 * SECOND);
    expect(await settled).to.include({ state: 'unknown', error: 'nobody knows how the last attempt ended' });
    await inState(host, next.id, 'delivered');
  });

  it('gives up an attempt after 30 seconds, and a receiver that does not even stop then', async () => {
    const clock = fakeClock();
    const device = pager();
    let aborted = false;
    let release = (outcome: NotifyOutcome): void => void outcome;
    device.replies.push(
      (_message, _target, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve(later('stopped in time'));
          });
        }),
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    await using host = await pagerHost(device, { clock });
    const { id } = await submit(host, 'hello');
    await until('the attempt', () => device.sent.length === 1);
    await clock.tick(30 * SECOND);
    expect(aborted).to.equal(true);
    await until('the outcome', async () => (await messageOf(host, id)).error === 'stopped in time');
    await clock.tick(SECOND);
    await until('the second attempt', () => device.sent.length === 2);
    await clock.tick(31 * SECOND);
    expect((await inState(host, id, 'unknown')).error).to.equal('the receiver did not answer within 30 s');
    release(OK);
    expect(await messageOf(host, id)).to.include({ state: 'unknown' });
  });

  it('sends a long message in parts, in order, each with its own key, and goes on with the part that failed', async () => {
    const clock = fakeClock();
    const device = pager({ maxSize: 20 });
    device.replies.push(OK, later('busy'), OK);
    await using host = await pagerHost(device, { clock });
    const text = Array.from({ length: 6 }, (_, index) => `line number ${index}\n`).join('');
    const long = await submit(host, text, 'team', 'long');
    const short = await submit(host, 'short', 'team', 'short');
    await until('the second part to be postponed', async () => (await messageOf(host, long.id)).error);
    expect(await messageOf(host, long.id)).to.include({ state: 'pending', parts: 6, partsSent: 1, attempts: 2 });
    await clock.tick(SECOND);
    await inState(host, short.id, 'delivered');
    expect(await messageOf(host, long.id)).to.include({ state: 'delivered', parts: 6, partsSent: 6, attempts: 7 });
    expect(device.sent.map(({ key }) => key)).to.deep.equal([
      'long/1',
      'long/2',
      'long/2',
      'long/3',
      'long/4',
      'long/5',
      'long/6',
      'short',
    ]);
    expect(
      contents(device)
        .filter((content, index, all) => content !== all[index - 1])
        .join(''),
    ).to.equal(`${text}short`);
  });

  it('keeps to the rates of the adapter, all of them, over parts and messages', async () => {
    const clock = fakeClock();
    const device = pager({
      maxSize: 4,
      rates: [
        { count: 10, perMs: MINUTE },
        { count: 3, perMs: SECOND },
      ],
    });
    await using host = await pagerHost(device, { clock });
    await submit(host, 'aaa\nbbb\nccc\nddd\n');
    const last = await submit(host, Array.from({ length: 8 }, () => 'xxx\n').join(''));
    await until('the burst', () => device.sent.length === 3);
    for (const sent of [6, 9, 10]) {
      const before = device.sent.length;
      await clock.tick(SECOND - 1);
      expect(device.sent).to.have.length(before);
      await clock.tick(1);
      await until(`${sent} parts`, () => device.sent.length === sent);
    }
    await clock.tick(MINUTE - 3 * SECOND - 1);
    expect(device.sent).to.have.length(10);
    await clock.tick(1);
    await inState(host, last.id, 'delivered');
  });

  it('never sends more than a rate allows in any span of time', async () => {
    const clock = fakeClock();
    const device = pager({ rates: [{ count: 5, perMs: MINUTE }] });
    device.always = async () => {
      await clock.tick(700);
      return OK;
    };
    await using host = await pagerHost(device, { clock });
    for (let number = 0; number < 23; number += 1) await submit(host, `m${number}`);
    await until('all of them', async () => {
      await clock.tick(SECOND);
      return device.sent.length === 23;
    });
    for (const [index, { at }] of device.sent.slice(5).entries()) {
      // From the end of one attempt, when its receiver has counted it at the latest, to the beginning of the other.
      expect(at - ((device.sent[index]?.at ?? 0) + 700)).to.be.at.least(MINUTE);
    }
  });

  it('lets the configuration of a channel override the rates, also while messages wait', async () => {
    const clock = fakeClock();
    const device = pager({ rates: [{ count: 100, perMs: MINUTE }] });
    await using host = await pagerHost(device, { clock });
    await addChannel(host, 'quiet', { rate_per_minute: 2 });
    for (const name of ['1', '2', '3', '4', '5']) await submit(host, name, 'quiet');
    await until('the burst', () => device.sent.length === 2);
    await clock.tick(MINUTE - 1);
    expect(device.sent).to.have.length(2);
    await clock.tick(1);
    await until('two more', () => device.sent.length === 4);
    const body = { type: 'pager', url: 'https://pager.example.test/quiet', config: { rate_per_minute: 60 } };
    expect((await host.request('PUT', '/api/v1/notify-channels/quiet', body)).status).to.equal(200);
    await until('the fifth', () => device.sent.length === 5);
  });

  it('ends what waits for a channel that is removed, and sends to the new address of one that is changed', async () => {
    const clock = fakeClock();
    const device = pager();
    device.always = () => later('busy');
    await using host = await pagerHost(device, { clock });
    await addChannel(host, 'ops');
    const [first, second, other] = [await submit(host, 'a'), await submit(host, 'b'), await submit(host, 'c', 'ops')];
    await until(
      'both first attempts to be over',
      async () => (await messageOf(host, first.id)).error && (await messageOf(host, other.id)).error,
    );
    await host.request('DELETE', '/api/v1/notify-channels/team');
    for (const { id } of [first, second]) expect((await inState(host, id, 'failed')).error).to.equal('the channel "team" was removed');
    device.always = () => OK;
    await host.request('PUT', '/api/v1/notify-channels/ops', { type: 'pager', url: 'https://new.example.test/ops' });
    await clock.tick(SECOND);
    await inState(host, other.id, 'delivered');
    expect(device.sent.at(-1)?.url).to.equal('https://new.example.test/ops');
    expect(contents(device)).to.deep.equal(['a', 'c', 'c']);
  });

  it('waits while the adapter of a channel is not loaded', async () => {
    const device = pager();
    await using host = await pagerHost(device);
    await host.kernel.unload('pager');
    const { id } = await submit(host, 'hello');
    const waiting = await until('the reason', async () => {
      const message = await messageOf(host, id);
      return message.error === null ? undefined : message;
    });
    expect(waiting).to.include({ state: 'pending', attempts: 0, error: 'nothing that is loaded speaks to channels of type "pager"' });
    await host.kernel.load(device.plugin);
    expect(await inState(host, id, 'delivered')).to.include({ attempts: 1, error: null });
  });

  it('goes on while the plugin is replaced, without losing or repeating anything', async () => {
    const device = pager();
    device.always = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return OK;
    };
    await using host = await pagerHost(device);
    const ids: number[] = [];
    const { default: notify } = await import('../../../plugins/notify/index.ts');
    const swaps = (async () => {
      for (let round = 0; round < 3; round += 1) {
        const status = await host.kernel.replace(notify, { retentionDays: round });
        expect(status.error).to.equal(undefined);
      }
    })();
    for (let number = 0; number < 60; number += 1) ids.push((await submit(host, `m${number}`)).id);
    await swaps;
    await inState(host, ids.at(-1) ?? 0, 'delivered');
    expect(contents(device)).to.deep.equal(ids.map((_, number) => `m${number}`));
    expect((await host.rows('notify_outbox')).filter(({ state }) => state !== 'delivered')).to.deep.equal([]);
  });

  it('lets the attempt of the plugin that is replaced or unloaded come to its end', async () => {
    const device = pager();
    let release = (outcome: NotifyOutcome): void => void outcome;
    let isAborted = false;
    device.always = (_message, _target, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
        });
        release = resolve;
      });
    await using host = await pagerHost(device);
    const { default: notify } = await import('../../../plugins/notify/index.ts');
    const old = host.kernel.service('notifications');
    const first = await submit(host, 'first');
    await until('the attempt', () => device.sent.length === 1);
    const replaced = host.kernel.replace(notify, {});
    await until('the new one to be there', () => host.kernel.service('notifications') !== old);
    const second = await submit(host, 'second');
    const settled = host.kernel.service('notifications').settled(first.id, 5_000);
    expect(await messageOf(host, first.id)).to.include({ state: 'sending' });
    release(OK);
    expect(await settled).to.include({ state: 'delivered' });
    await replaced;

    await until('the second attempt', () => device.sent.length === 2);
    let isUnloaded = false;
    const unloaded = host.kernel.unload('notify').then(() => {
      isUnloaded = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([isUnloaded, isAborted]).to.deep.equal([false, false]);
    release(OK);
    await unloaded;
    const states = (await host.rows('notify_outbox')).map(({ id, state }) => [id, state]);
    expect(states).to.deep.equal([
      [first.id, 'delivered'],
      [second.id, 'delivered'],
    ]);
  });

  it('writes one line per message that ended, with neither address nor content', async () => {
    const lines: LogLine[] = [];
    const sink = definePlugin({
      name: 'lines',
      setup: (ctx) => void ctx.register('logSink', { name: 'lines', write: (line) => void lines.push(line) }),
    });
    const device = pager();
    device.replies.push(OK, { ok: false, kind: 'refused', message: 'no', code: '7' });
    await using host = await pagerHost(device, { plugins: [sink] });
    const [good, bad] = [await submit(host, 'good words'), await submit(host, 'bad words')];
    await inState(host, bad.id, 'failed');
    const told = lines.filter(({ plugin, fields }) => plugin === 'notify' && 'messageId' in fields);
    expect(told.map(({ level, fields }) => ({ level, ...fields }))).to.deep.equal([
      { level: 'info', channel: 'team', messageId: good.id, attempts: 1 },
      { level: 'warn', channel: 'team', messageId: bad.id, attempts: 1, reason: 'no', code: '7' },
    ]);
    expect(JSON.stringify(lines)).to.not.include('words').and.not.include('pager.example.test/');
  });

  it('removes ended messages when their time is over, and no others', async () => {
    const clock = fakeClock();
    const device = pager();
    await using host = await pagerHost(device, { clock, config: { 'notify.retention-days': 2 } });
    const ids: number[] = [];
    for (let number = 0; number < 60; number += 1) ids.push((await submit(host, `old ${number}`)).id);
    await inState(host, ids.at(-1) ?? 0, 'delivered');
    await clock.jump(47 * HOUR);
    device.always = () => later('busy');
    const young = await submit(host, 'young');
    await clock.jump(2 * HOUR);
    await until('all old ones to be gone', async () => {
      await clock.tick(100);
      return (await host.rows('notify_outbox')).length === 1;
    });
    expect(await messageOf(host, young.id)).to.include({ content: 'young' });
    expect(await submit(host, 'old 0')).to.include({ state: 'pending' });
  });
});
