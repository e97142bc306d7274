/** The slots of a schedule in a stretch of time. */
import type { CronExpression } from './cron-expression.ts';
import { firstWall, nextFire, wallAfter } from './next-fire.ts';
import type { TimeZone } from './time-zone.ts';
import { countWalls } from './wall-time.ts';

/** A run of consecutive slots; instants in epoch milliseconds. */
export interface Slots {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** The slots in (after, until]; undefined for none. Takes as long for a year of seconds as for a year of days. */
export function slotsBetween(expression: CronExpression, zone: TimeZone, after: number, until: number): Slots | undefined {
  const first = nextFire(expression, zone, after)?.at;
  if (first === undefined || first > until) return undefined;
  const last = lastSlot(expression, zone, first, until);
  return { count: first === last ? 1 : countSlots(expression, zone, after, until), first, last };
}

/** `first` is a slot that is not after `until`. */
function lastSlot(expression: CronExpression, zone: TimeZone, first: number, until: number): number {
  const next = (after: number): number => nextFire(expression, zone, after)?.at ?? Number.POSITIVE_INFINITY;
  if (next(first) > until) return first;
  // Slots lie on whole seconds: a second that is left holds exactly one.
  let [before, beyond] = [first, until];
  while (beyond - before > 1000) {
    const middle = Math.floor((before + beyond) / 2);
    if (next(middle) <= until) before = middle;
    else beyond = middle;
  }
  return next(before);
}

function countSlots(expression: CronExpression, zone: TimeZone, after: number, until: number): number {
  let from = after;
  let wall = firstWall(expression, zone, after);
  let count = 0;
  for (;;) {
    const change = zone.transitionIn(from, until);
    if (change === undefined) return count + countWalls(expression, wall, Math.floor((until + zone.offsetAt(from)) / 1000) + 1);
    const [left, entered] = [(change.at + change.before) / 1000, (change.at + change.after) / 1000];
    count += countWalls(expression, wall, left);
    const fromGap = countWalls(expression, left, entered) > 0;
    if (fromGap) count += 1;
    wall = Math.max(wallAfter(change, expression), fromGap ? entered + 1 : 0);
    from = change.at;
  }
}
