/** plugins/schedules/index.ts — Runs agents on time. */
import { definePlugin } from '../../kernel/index.ts';
import type {} from '../agents/contract.ts';
import type {} from '../conversations/contract.ts';
import type {} from '../executions/contract.ts';
import type {} from '../http/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from '../sessions/contract.ts';
import { startRetention } from '../store/contract.ts';
import type {} from './contract.ts';
import { Dispatcher } from './dispatcher.ts';
import { legacyScheduleRoutes } from './legacy-routes.ts';
import { slotAfter } from './live-schedule.ts';
import { migrations } from './migrations.ts';
import { scheduleRoutes } from './routes.ts';
import { ScheduleBook } from './schedule-book.ts';
import { scheduleDesk } from './schedule-desk.ts';
import { ScheduleRuns } from './schedule-runs.ts';
import { taskExecutionsPruned } from './task-execution-repository.ts';
import { Timetable } from './timetable.ts';

/** How long to wait before slots that could not be claimed are looked at again. */
const RETRY_MS = 2_000;

export default definePlugin({
  name: 'schedules',
  requires: ['store', 'http', 'engine', 'turns', 'agents', 'sessions', 'executions', 'idempotency', 'secrets'],
  configAt: { enabled: 'schedules.enabled', retentionDays: 'schedules.retention-days' },
  config: {
    type: 'object',
    properties: {
      enabled: {
        type: 'boolean',
        default: true,
        description: 'Off: schedules are shown and can be run by hand, and none runs on its own.',
      },
      retentionDays: {
        type: 'integer',
        minimum: 0,
        maximum: 36_500,
        default: 90,
        description: 'Days after which it is forgotten what became of a slot; 0 keeps everything.',
      },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { store, http, engine, turns, sessions, executions, idempotency, secrets } = ctx.services;
    const { clock, log, signal } = ctx;
    await store.migrate(ctx.name, migrations);

    const profiles = ctx.registry('profile');
    const timetable: Timetable = new Timetable(clock, {
      onDue: (id) => dispatcher.due(id),
      onPutBack: () => void book.putBack().catch((error: unknown) => log.error('schedules could not follow the clock', { error })),
    });
    const set = (id: string, at: number | null): void => (at === null ? timetable.remove(id) : timetable.set(id, at));
    const book: ScheduleBook = new ScheduleBook({
      store,
      clock,
      log,
      profiles,
      onSet: (schedule, at) => set(schedule.id, at),
      onRemoved: (id) => timetable.remove(id),
    });
    const find = (id: string) => book.find(id);
    const notifiers = ctx.registry('failureNotifier');
    const runs = new ScheduleRuns({ store, clock, log, signal, engine, turns, sessions, executions, notifiers, find });
    const dispatcher: Dispatcher = new Dispatcher({
      store,
      clock,
      log,
      runs,
      find,
      onSettled(schedule, error) {
        if (error !== undefined) log.error('a slot could not be claimed yet', { agent: schedule.profile, key: schedule.key, error });
        // An edit that came meanwhile has put its own slot on the timetable.
        if (book.find(schedule.id) !== schedule || signal.aborted) return;
        set(schedule.id, error === undefined ? slotAfter(schedule, schedule.evaluatedAt) : clock.now() + RETRY_MS);
      },
    });

    ctx.own('timetable', () => timetable.close());
    ctx.own('retries', () => book.close());
    ctx.own(
      'listener for agents',
      profiles.onChange((_change, { name }) => book.touch(name)),
    );
    await book.start();

    const prunings = [{ slice: 500, statement: taskExecutionsPruned }];
    ctx.own('retention', startRetention({ store, clock, log, days: ctx.config.retentionDays, what: 'executions of schedules', prunings }));
    const mask = (text: string): string => secrets.mask(text);
    const desk = scheduleDesk({ store, book, dispatcher, runs, idempotency });
    for (const route of [...scheduleRoutes(desk, clock, mask), ...legacyScheduleRoutes(desk, mask)]) ctx.register('route', route);
    if (!ctx.config.enabled) return;
    ctx.own(
      'start',
      // The engine has taken up its runs before the port opens.
      http.onListening(async () => {
        await runs.recover();
        dispatcher.start();
        timetable.start();
      }),
    );
  },
});
