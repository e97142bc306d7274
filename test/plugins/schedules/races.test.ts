import { expect } from 'chai';
import { definePlugin, type Profile, type Registration } from '../../../kernel/index.ts';
import type {} from '../../../plugins/executions/contract.ts';
import type {} from '../../../plugins/sessions/contract.ts';
import { cronExpression } from '../../../plugins/schedules/cron-expression.ts';
import { Dispatcher } from '../../../plugins/schedules/dispatcher.ts';
import { type LiveSchedule, slotAfter } from '../../../plugins/schedules/live-schedule.ts';
import { ScheduleRuns } from '../../../plugins/schedules/schedule-runs.ts';
import { timeZone } from '../../../plugins/schedules/time-zone.ts';
import { fakeClock, type FakeClock, startHost, type TestHost } from '../../harness/index.ts';
import { door, eventually, hostWith, NOON, only, TEST_MS, type View } from './fixture.ts';
import { randomFrom } from './reference.ts';

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();

/** What a second scheduler on the same database would be: it knows the schedules and settles their slots by itself. */
function secondScheduler(host: TestHost, clock: FakeClock, schedules: readonly LiveSchedule[]): { due(id: string): Promise<void> } {
  const { kernel } = host;
  const store = kernel.service('store');
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const find = (id: string) => schedules.find((schedule) => schedule.id === id);
  const runs = new ScheduleRuns({
    store,
    clock,
    log,
    signal: new AbortController().signal,
    engine: kernel.service('engine'),
    turns: kernel.service('turns'),
    sessions: kernel.service('sessions'),
    executions: kernel.service('executions'),
    notifiers: { list: () => [] } as never,
    find,
  });
  const waiting = new Map<string, (error?: Error) => void>();
  const dispatcher = new Dispatcher({
    store,
    clock,
    log,
    runs,
    find,
    onSettled: ({ id }, error) => waiting.get(id)?.(error as Error | undefined),
  });
  dispatcher.start();
  return {
    due: (id) =>
      new Promise((resolve, reject) => {
        waiting.set(id, (error) => (error === undefined ? resolve() : reject(error)));
        dispatcher.due(id);
      }),
  };
}

describe('schedules that race', function () {
  this.timeout(TEST_MS);

  it('two schedulers for one slot, 100 times: one run each', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: t, name: T, cron: "0 * * * * *", zone: UTC, overlap: queue']);
    const { scheduleId: id } = await only(host);
    const declared = { profile: 'w1', key: 't', name: 'T', cron: '0 * * * * *', zone: 'UTC', message: null };
    const rules = { missed: 'once', maxDelayMs: 600_000, overlap: 'queue', timeoutMs: undefined, onFailure: undefined } as const;
    const twin: LiveSchedule = {
      ...declared,
      rules,
      id,
      expression: cronExpression(declared.cron),
      timeZone: timeZone('UTC'),
      enabled: true,
      evaluatedAt: NOON,
    };
    const second = secondScheduler(host, clock, [twin]);
    for (let slot = 1; slot <= 100; slot += 1) {
      // Both are told in the same turn of the event loop, the host first in even rounds and the other one in odd ones: it then set its timer first.
      let settledByOther: Promise<void> | undefined;
      clock.after(MINUTE, () => {
        settledByOther = second.due(id);
      });
      if (slot % 2 === 1) await clock.jump(50_000);
      await clock.jump(slot % 2 === 1 ? 10_000 : MINUTE);
      await settledByOther;
      expect(slotAfter(twin, twin.evaluatedAt)).to.equal(NOON + (slot + 1) * MINUTE);
      await eventually('the host to wait for the next slot', async () => (await only(host)).nextRunAt === iso(NOON + (slot + 1) * MINUTE));
    }
    const rows = await eventually('100 ends', async () => {
      const all = await host.rows('task_executions');
      return all.length >= 100 && all.every(({ status }) => status !== 'running') ? all : undefined;
    });
    expect(rows).to.have.length(100);
    expect(new Set(rows.map(({ slot }) => slot)).size).to.equal(100);
    expect(rows.every(({ status }) => status === 'success')).to.equal(true);
    expect(host.model.requests).to.have.length(100);
    expect(await only(host)).to.include({ runCount: 100 });
  });

  it('the timer and two times "run now", 40 times: one of the three runs, the others are refused', async () => {
    const clock = fakeClock(NOON);
    await using host = await hostWith(clock, ['key: t, name: T, cron: "0 * * * * *", zone: UTC']);
    const { scheduleId: id } = await only(host);
    let byHand = 0;
    for (let round = 1; round <= 40; round += 1) {
      const gate = door();
      host.model.will({ content: 'ok', after: gate.closed });
      let refused = 0;
      const posts = [1, 2].map(async () => {
        const { status } = await host.request('POST', `/api/v2/schedules/${id}/run`);
        if (status === 409) refused += 1;
        return status;
      });
      await clock.jump(MINUTE);
      await eventually('two of three to be refused', async () => {
        const rows = await host.rows('task_executions');
        const skipped = rows.some((row) => row['status'] === 'skipped' && row['last_slot'] === clock.now()) ? 1 : 0;
        return refused + skipped === 2;
      });
      gate.open();
      byHand += (await Promise.all(posts)).filter((status) => status === 200).length;
      await eventually('the end', async () => (await host.rows('task_executions')).every(({ status }) => status !== 'running'));
    }
    const rows = await host.rows('task_executions');
    expect(rows.filter(({ status }) => status === 'success')).to.have.length(40);
    expect(rows.filter(({ slot, status }) => slot === null && status === 'success')).to.have.length(byHand);
    expect(rows.filter(({ slot }) => slot !== null).reduce((sum, { count }) => sum + Number(count), 0)).to.equal(40);
    expect(host.model.requests).to.have.length(40);
  });
});

describe('schedules that are edited', function () {
  this.timeout(TEST_MS);

  it('after 1 000 random additions, edits, renamings, deletions and switches exactly the declared ones are there and fire', async () => {
    const profiles = new Map<string, Registration<Profile>>();
    let register: (profile: Profile) => Registration<Profile> = () => {
      throw new Error('not set up');
    };
    const declarer = definePlugin({
      name: 'declarer',
      setup(ctx) {
        register = (profile) => ctx.register('profile', profile);
      },
    });
    const clock = fakeClock(NOON);
    await using host = await startHost({ clock, plugins: [declarer] });
    const template = host.kernel.service('profiles').current('default');
    if (template === undefined) throw new Error('there is no default agent');
    const random = randomFrom(1_000);
    const declared = new Map<string, Map<string, string>>();
    const enabled = new Map<string, boolean>();
    const idOf = new Map<string, string>();

    const publish = (name: string): void => {
      const entries = declared.get(name);
      if (entries === undefined) {
        void profiles.get(name)?.();
        profiles.delete(name);
        return;
      }
      const schedules = [...entries].map(([key, cron]) => ({ key, name: key, cron, zone: 'UTC' }));
      const profile = { ...template, name, frontmatter: { schedules } };
      const registration = profiles.get(name);
      if (registration === undefined) profiles.set(name, register(profile));
      else registration.replace(profile);
    };
    const cronAt = (): string => `0 ${random(60)} 13 * * *`;

    for (let step = 0; step < 1_000; step += 1) {
      const name = `agent${random(5)}`;
      const keys = declared.get(name) ?? new Map<string, string>();
      const some = [...keys.keys()][random(Math.max(1, keys.size))];
      const kind = random(12);
      if (kind === 0) declared.delete(name);
      else {
        declared.set(name, keys);
        if (kind < 5 || some === undefined) keys.set(`key${random(6)}`, cronAt());
        else if (kind < 8) keys.set(some, cronAt());
        else if (kind < 9) {
          keys.delete(some);
          keys.set(`key${random(6)}`, cronAt());
        } else if (kind < 10) keys.delete(some);
        else {
          const id = idOf.get(`${name}/${some}`);
          if (id !== undefined) {
            const on = random(2) === 0;
            const { status } = await host.request('PUT', `/api/v2/schedules/${id}`, { enabled: on });
            expect(status).to.equal(200);
            enabled.set(`${name}/${some}`, on);
          }
        }
      }
      publish(name);
      if (step % 20 === 19) {
        const views: readonly View[] = (await host.request('GET', '/api/v2/schedules')).data;
        const found = views.map(({ profileName, key, cron }) => `${profileName}/${key} ${cron}`);
        const expected = [...declared].flatMap(([agent, entries]) => [...entries].map(([key, cron]) => `${agent}/${key} ${cron}`));
        expect(found.toSorted()).to.deep.equal(expected.toSorted());
        for (const { scheduleId, profileName, key, enabled: isOn, nextRunAt } of views) {
          const place = `${profileName}/${key}`;
          expect(scheduleId, place).to.equal(idOf.get(place) ?? scheduleId);
          idOf.set(place, scheduleId);
          expect(isOn, place).to.equal(enabled.get(place) ?? true);
          expect(nextRunAt === null, place).to.equal(!isOn);
        }
      }
    }

    const views: readonly View[] = (await host.request('GET', '/api/v2/schedules')).data;
    expect(views.length).to.be.above(5);
    // Nothing is late by more than max_delay, and two hours take few steps.
    for (let minute = 0; minute < 126; minute += 9) await clock.jump(9 * MINUTE);
    const rows = await eventually('every schedule to have its row', async () => {
      const all = await host.rows('task_executions');
      return all.length >= views.length && all.every(({ status }) => status !== 'running') ? all : undefined;
    });
    const outcome = (id: unknown): string =>
      rows
        .filter(({ schedule_id: of }) => of === id)
        .map(({ status, count }) => `${String(status)} ${String(count)}`)
        .join();
    expect(rows).to.have.length(views.length);
    for (const { scheduleId, enabled: isOn, profileName, key } of views) {
      // Fired, and failed: the engine asks for an AGENT.md, which these agents do not have.
      expect(outcome(scheduleId), `${profileName}/${key}`).to.equal(isOn ? 'failed 1' : 'skipped 1');
    }
  });
});
