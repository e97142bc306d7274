/** The service `turns`: the one way to run an agent. */
import type { Engine, ScheduleFiring, Skip, Statement, TurnEvent, TurnOutcome, TurnRequest, Turns } from './contract/index.ts';
import type { LoopHost } from './loop-host.ts';
import { randomUUID } from 'node:crypto';

/** @param engine  finds the service `engine`; throws ORYX_SERVICE_MISSING while there is none */
export function createTurns(host: LoopHost, engine: () => Engine): Turns {
  const run = async (request: TurnRequest, onEvent?: (event: TurnEvent) => void, rows: readonly Statement[] = []): Promise<TurnOutcome> => {
    const driver = engine();
    const unwatch = onEvent ? driver.watch(request.id, onEvent) : undefined;
    try {
      await driver.submit(request, rows);
      return await driver.outcome(request.id);
    } finally {
      await unwatch?.();
    }
  };
  const fire = async (
    firing: ScheduleFiring,
    turnId: string = randomUUID(),
    rows: readonly Statement[] = [],
  ): Promise<TurnOutcome | Skip> => {
    const skip = await host.hooks.onSchedule(firing);
    if (skip) return skip;
    const sessionId = `schedule:${firing.scheduleId}`;
    const request: TurnRequest = {
      id: turnId,
      profile: firing.profile,
      sessionId,
      origin: 'schedule',
      input: firing.message,
      persistent: true,
    };
    return run(request, undefined, rows);
  };
  return { run, fire };
}
