/** What the routes ask of schedules, whichever version of the API they belong to. */
import { randomUUID } from 'node:crypto';
import { conflict, notFound, type Store } from '../../kernel/index.ts';
import type { Idempotency, KeyedRequest } from '../conversations/contract.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { ScheduleBook } from './schedule-book.ts';
import { activeSchedules, findSchedule, type ScheduleRow, schedulesWithKey } from './schedule-repository.ts';
import type { ScheduleRuns } from './schedule-runs.ts';
import { findTaskExecution, type TaskExecutionRow, taskExecutionsOf } from './task-execution-repository.ts';

const MAX_EXECUTIONS = 100;

/** What the desk works with. */
export interface ScheduleDeskParts {
  readonly store: Store;
  readonly book: ScheduleBook;
  readonly dispatcher: Dispatcher;
  readonly runs: ScheduleRuns;
  readonly idempotency: Idempotency;
}

/** Answers about schedules as they are declared now. Everything rejects with ORYX_NOT_FOUND for a schedule that does not exist. */
export interface ScheduleDesk {
  list(): Promise<readonly ScheduleRow[]>;
  /** One that is not retired. */
  schedule(scheduleId: string): Promise<ScheduleRow>;
  /** Rejects with ORYX_CONFLICT when several agents use the key. */
  byKey(key: string): Promise<ScheduleRow>;
  byAgentAndKey(agent: string, key: string): Promise<ScheduleRow>;
  /** Newest first; of retired schedules too. `limit` outside 1 to 100 counts as 100. */
  executions(scheduleId: string, limit?: number): Promise<readonly TaskExecutionRow[]>;
  enable(scheduleId: string, enabled: boolean): Promise<void>;
  /** Runs it now and resolves at the end of the run. Rejects with ORYX_CONFLICT when it is running, or when a plugin refuses it. */
  run(row: ScheduleRow, request: KeyedRequest): Promise<readonly TaskExecutionRow[]>;
}

/** The desk over one book. */
export function scheduleDesk({ store, book, dispatcher, runs, idempotency }: ScheduleDeskParts): ScheduleDesk {
  const active = async (scheduleId: string): Promise<ScheduleRow> => {
    await book.settled();
    const row = await findSchedule(store, scheduleId);
    if (row === undefined || row.retired === 1) throw notFound(`There is no schedule "${scheduleId}"`);
    return row;
  };
  const executions: ScheduleDesk['executions'] = async (scheduleId, limit = MAX_EXECUTIONS) => {
    await book.settled();
    if ((await findSchedule(store, scheduleId)) === undefined) throw notFound(`There is no schedule "${scheduleId}"`);
    const wanted = Math.trunc(limit);
    return await taskExecutionsOf(store, scheduleId, wanted < 1 || wanted > MAX_EXECUTIONS ? MAX_EXECUTIONS : wanted);
  };

  return {
    schedule: active,
    executions,
    async list() {
      await book.settled();
      return await activeSchedules(store);
    },
    async byKey(key) {
      await book.settled();
      const [row, another] = await schedulesWithKey(store, key);
      if (row === undefined) throw notFound(`There is no schedule with the key "${key}"`);
      if (another !== undefined)
        throw conflict(`Several agents have a schedule "${key}": use /api/v2/schedules, which names each by its id`);
      return row;
    },
    async byAgentAndKey(agent, key) {
      await book.settled();
      const row = (await schedulesWithKey(store, key)).find(({ profile_name: profile }) => profile === agent);
      if (row === undefined) throw notFound(`Agent "${agent}" has no schedule "${key}"`);
      return row;
    },
    enable: (scheduleId, enabled) => book.enable(scheduleId, enabled),
    async run({ schedule_id: scheduleId }, request) {
      const schedule = book.find(scheduleId);
      if (schedule === undefined) throw notFound(`There is no schedule "${scheduleId}"`);
      const id = randomUUID();
      const traceId = await idempotency.once(request, id, (rows) => dispatcher.runNow(schedule, id, rows));
      await runs.over(traceId);
      const row = await findTaskExecution(store, traceId);
      if (row?.status === 'skipped') throw conflict(`Schedule "${schedule.key}" of agent "${schedule.profile}" did not run: ${row.reason}`);
      return await executions(scheduleId);
    },
  };
}
