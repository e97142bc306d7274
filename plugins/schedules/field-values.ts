/** The numbers that a plain cron field allows: lists, ranges, steps and names are read by the `cron` package. */
import { CronTime } from 'cron';

/** Fields that are plain sets of numbers. */
export type PlainUnit = 'second' | 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek';

interface Unit {
  readonly expression: (field: string) => string;
  /** Epoch milliseconds: values are looked for from here (inclusive) … */
  readonly from: number;
  /** … to here (exclusive). */
  readonly to: number;
  readonly valueAt: (at: Date) => number;
  /** What `*` stands for. */
  readonly all: string;
}

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
/** A Monday, the first day of a year and of a month with 31 days. */
const BASE = Date.UTC(2001, 0, 1);

const UNITS: Readonly<Record<PlainUnit, Unit>> = {
  second: unit(
    '0-59',
    (field) => `${field} * * * * *`,
    60 * SECOND_MS,
    (at) => at.getUTCSeconds(),
  ),
  minute: unit(
    '0-59',
    (field) => `0 ${field} * * * *`,
    3600 * SECOND_MS,
    (at) => at.getUTCMinutes(),
  ),
  hour: unit(
    '0-23',
    (field) => `0 0 ${field} * * *`,
    DAY_MS,
    (at) => at.getUTCHours(),
  ),
  dayOfMonth: unit(
    '1-31',
    (field) => `0 0 0 ${field} * *`,
    31 * DAY_MS,
    (at) => at.getUTCDate(),
  ),
  month: unit(
    '1-12',
    (field) => `0 0 0 1 ${field} *`,
    365 * DAY_MS,
    (at) => at.getUTCMonth() + 1,
  ),
  dayOfWeek: unit(
    '1-7',
    (field) => `0 0 0 * * ${field}`,
    7 * DAY_MS,
    (at) => at.getUTCDay(),
  ),
};

const MAX_KEPT = 2_000;
const kept = new Map<string, readonly number[]>();

/**
 * The allowed values of a valid field, ascending; Sunday is 0.
 *
 * They are found by asking when such an expression fires in UTC: the package's own listing shows a field that lacks only its highest value
 * as if it had all.
 */
export function fieldValues(name: PlainUnit, field: string): readonly number[] {
  const key = `${name} ${field}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const values = askedValues(UNITS[name], field);
  kept.set(key, values);
  return values;
}

function askedValues({ expression, from, to, valueAt, all }: Unit, field: string): readonly number[] {
  const time = new CronTime(expression(field.replaceAll('*', all)), 'UTC');
  const values: number[] = [];
  for (let at = nextOf(time, from - SECOND_MS); at < to; at = nextOf(time, at)) values.push(valueAt(new Date(at)));
  return values.toSorted((a, b) => a - b);
}

const nextOf = (time: CronTime, after: number): number => time.getNextDateFrom(new Date(after), 'UTC').toMillis();

function unit(all: string, expression: Unit['expression'], spanMs: number, valueAt: Unit['valueAt']): Unit {
  return { all, expression, from: BASE, to: BASE + spanMs, valueAt };
}
