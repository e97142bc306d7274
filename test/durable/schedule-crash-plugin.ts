/** What crash tests of schedules do to a server. */
import { definePlugin, type Plugin } from '../../kernel/index.ts';

/**
 * @param failpoint  "before_acceptance" ends the process when the first slot is claimed and its run is not accepted yet; "row_stays_open" makes
 *   the database refuse the end of every scheduled run; anything else does nothing, and undoes the latter
 */
export function scheduleCrashPlugin(failpoint: string): Plugin {
  return definePlugin({
    name: 'schedule-crash',
    requires: ['store'],
    async setup(ctx) {
      const { store } = ctx.services;
      if (failpoint === 'before_acceptance') ctx.tap('onSchedule', () => void process.kill(process.pid, 'SIGKILL'));
      await store.write({ sql: 'DROP TRIGGER IF EXISTS stays_open', params: [] });
      if (failpoint !== 'row_stays_open') return;
      const refusal = "BEGIN SELECT RAISE(ABORT, 'not now'); END";
      await store.write({ sql: `CREATE TRIGGER stays_open BEFORE UPDATE OF status ON task_executions ${refusal}`, params: [] });
    },
  });
}
