import type { CronExpression } from './cron-expression.ts';
import { type Fire, nextFire } from './next-fire.ts';
import type { TimeZone } from './time-zone.ts';

/** One instant at which a schedule will fire. */
export interface PreviewedFire {
  /** ISO-8601, UTC. */
  readonly at: string;
  /** ISO-8601 with the zone's offset. */
  readonly local: string;
  readonly dst: Fire['dst'];
}

/** The next `count` instants after `after` (epoch milliseconds); fewer when no more ever come. */
export function preview(expression: CronExpression, zone: TimeZone, after: number, count: number): readonly PreviewedFire[] {
  const fires: PreviewedFire[] = [];
  for (let from = after; fires.length < count; ) {
    const fire = nextFire(expression, zone, from);
    if (fire === undefined) break;
    fires.push({ at: new Date(fire.at).toISOString(), local: localText(fire.at, zone.offsetAt(fire.at)), dst: fire.dst });
    from = fire.at;
  }
  return fires;
}

/** "2026-11-01T01:30:00-04:00" */
function localText(at: number, offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const offset = `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${new Date(at + offsetMs).toISOString().slice(0, 19)}${offset}`;
}
