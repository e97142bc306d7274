/** What a zone's clocks show, and when they are changed. */

/** A moment at which clocks are changed. Offsets are local time minus UTC, in milliseconds. */
export interface Transition {
  /** Epoch milliseconds of the first instant with the new offset. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** A zone; instants are epoch milliseconds. */
export interface TimeZone {
  readonly name: string;
  /** Local time minus UTC at that instant, in milliseconds. */
  offsetAt(at: number): number;
  /** The first change of clocks in (from, to]. */
  transitionIn(from: number, to: number): Transition | undefined;
}

/** One UTC day: the offset at its start, and the change in it. Two changes that undo each other in one day are not seen. */
interface ZoneDay {
  readonly offset: number;
  readonly change: Transition | undefined;
}

const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/;
const DAY_MS = 86_400_000;
const MAX_DAYS_KEPT = 4_000;
const zones = new Map<string, TimeZone>();

/** The zone of a valid name: IANA, `UTC`, `GMT`, `Z` or an offset. Null is the zone of the server. */
export function timeZone(name: string | null): TimeZone {
  const known = name ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  let zone = zones.get(known);
  if (zone === undefined) zones.set(known, (zone = zoneOf(known)));
  return zone;
}

function zoneOf(name: string): TimeZone {
  const fixedMs = fixedOffset(name);
  if (fixedMs !== undefined) return { name, offsetAt: () => fixedMs, transitionIn: () => undefined };
  const days = new Map<number, ZoneDay>();
  const shown = localClock(name);

  const dayOf = (index: number): ZoneDay => {
    const known = days.get(index);
    if (known !== undefined) return known;
    if (days.size >= MAX_DAYS_KEPT) days.clear();
    const start = index * DAY_MS;
    const offset = shown(start);
    const day = { offset, change: shown(start + DAY_MS) === offset ? undefined : changeBetween(shown, start, start + DAY_MS) };
    days.set(index, day);
    return day;
  };

  return {
    name,
    offsetAt(at) {
      const { offset, change } = dayOf(Math.floor(at / DAY_MS));
      return change !== undefined && at >= change.at ? change.after : offset;
    },
    transitionIn(from, to) {
      for (let index = Math.floor(from / DAY_MS); index * DAY_MS <= to; index += 1) {
        const { change } = dayOf(index);
        if (change !== undefined && change.at > from && change.at <= to) return change;
      }
      return undefined;
    },
  };
}

function fixedOffset(name: string): number | undefined {
  if (name === 'Z' || name === 'UTC' || name === 'GMT') return 0;
  const [, sign, hours, minutes = '0'] = OFFSET.exec(name) ?? [];
  if (hours === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** `low` and `high` have different offsets. Clocks change on whole seconds. */
function changeBetween(offsetAt: (at: number) => number, low: number, high: number): Transition {
  const before = offsetAt(low);
  let [last, first] = [low / 1000, high / 1000];
  while (first - last > 1) {
    const middle = Math.floor((first + last) / 2);
    if (offsetAt(middle * 1000) === before) last = middle;
    else first = middle;
  }
  return { at: first * 1000, before, after: offsetAt(first * 1000) };
}

/** Reads the offset off a clock in that zone. */
function localClock(timeZone: string): (at: number) => number {
  const unit = 'numeric';
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    year: unit,
    month: unit,
    day: unit,
    hour: unit,
    minute: unit,
    second: unit,
    hourCycle: 'h23',
    timeZone,
  });
  return (at) => {
    // "11/30/2026, 13:05:09"
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (format.format(at).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - at;
  };
}
