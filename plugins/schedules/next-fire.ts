/** When a schedule fires: a pure function of expression, zone and the instant to start from. */
import type { CronExpression } from './cron-expression.ts';
import type { TimeZone, Transition } from './time-zone.ts';
import { wallAtOrAfter } from './wall-time.ts';

/** One instant at which a schedule fires. */
export interface Fire {
  /** Epoch milliseconds. */
  readonly at: number;
  /** `gap`: its local time is left out that day, so it fires when clocks have been put forward. `repeat`: its local time comes twice. */
  readonly dst: 'gap' | 'repeat' | null;
}

const HOUR_MS = 3_600_000;
/** Further than any clock is ever put. */
const NEAR_MS = 36 * HOUR_MS;
const JUMP_MS = 24 * HOUR_MS;

/**
 * The first instant after `after` at which the expression fires in the zone; undefined when it never does.
 *
 * Local times that clocks leave out fire together, once, at the first instant after the gap. Local times that come twice fire the first time
 * only, unless the expression allows every hour: then both times.
 */
export function nextFire(expression: CronExpression, zone: TimeZone, after: number): Fire | undefined {
  let from = after;
  let least = firstWall(expression, zone, after);
  for (;;) {
    const wall = wallAtOrAfter(expression, least);
    if (wall === undefined) return undefined;
    const at = wall * 1000 - zone.offsetAt(from);
    const change = zone.transitionIn(from, from + NEAR_MS);
    if (change === undefined && at > from + NEAR_MS) {
      from = at - JUMP_MS;
      least = wall;
      continue;
    }
    if (change === undefined || at < change.at) return { at, dst: isRepeated(zone, at) ? 'repeat' : null };
    if (wall * 1000 < change.at + change.after) return { at: change.at, dst: 'gap' };
    from = change.at;
    least = Math.max(wallAfter(change, expression), change.after > change.before ? least : 0);
  }
}

/** The first local time, in seconds, that can still fire after an instant. */
export function firstWall(expression: CronExpression, zone: TimeZone, after: number): number {
  const next = Math.floor((after + zone.offsetAt(after)) / 1000) + 1;
  const behind = zone.transitionIn(after - NEAR_MS, after);
  return behind === undefined || expression.isInterval ? next : Math.max(next, wallAfter(behind, expression));
}

/** Where local time goes on after a change, in seconds; what is repeated is left out unless it fires again. */
export function wallAfter({ at, before, after }: Transition, { isInterval }: CronExpression): number {
  return (at + (isInterval ? after : Math.max(before, after))) / 1000;
}

/** Does the local time of that instant come twice? */
function isRepeated(zone: TimeZone, at: number): boolean {
  const behind = zone.transitionIn(at - NEAR_MS, at);
  if (behind !== undefined && at + behind.after < behind.at + behind.before) return true;
  const ahead = zone.transitionIn(at, at + NEAR_MS);
  return ahead !== undefined && at + ahead.before >= ahead.at + ahead.after;
}
