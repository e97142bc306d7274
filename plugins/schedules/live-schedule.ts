import type { CronExpression } from './cron-expression.ts';
import type { DeclaredSchedule } from './declared-schedule.ts';
import { nextFire } from './next-fire.ts';
import type { TimeZone } from './time-zone.ts';

/** A schedule that is declared now. An edit makes a new one; only its two states change. */
export interface LiveSchedule extends DeclaredSchedule {
  readonly id: string;
  readonly expression: CronExpression;
  readonly timeZone: TimeZone;
  enabled: boolean;
  /** Epoch milliseconds: what became of all slots up to then is recorded. */
  evaluatedAt: number;
}

/** The first slot after an instant, in epoch milliseconds; null when none ever comes. */
export function slotAfter({ expression, timeZone }: Pick<LiveSchedule, 'expression' | 'timeZone'>, after: number): number | null {
  return nextFire(expression, timeZone, after)?.at ?? null;
}
