/** Arithmetic on local times, as seconds since 1970-01-01T00:00 of a clock that knows no zone. */
import type { CronExpression } from './cron-expression.ts';

const DAY_S = 86_400;
/** The days of February 29 that fall on a given weekday are at most 40 years apart: what is not found in more never comes. */
const MAX_DAYS = 41 * 366;

/** The first local time at or after `least` that the expression allows; undefined when none ever comes. */
export function wallAtOrAfter(expression: CronExpression, least: number): number | undefined {
  const firstDay = Math.floor(least / DAY_S);
  const timeOfDay = least - firstDay * DAY_S;
  if (isAllowed(expression, firstDay)) {
    const time = timeAtOrAfter(expression, timeOfDay);
    if (time !== undefined) return firstDay * DAY_S + time;
  }
  const day = allowedDay(expression, firstDay + 1, firstDay + MAX_DAYS);
  return day === undefined ? undefined : day * DAY_S + (timeAtOrAfter(expression, 0) ?? 0);
}

/** How many local times in [from, to) the expression allows. */
export function countWalls(expression: CronExpression, from: number, to: number): number {
  if (to <= from) return 0;
  const [firstDay, lastDay] = [Math.floor(from / DAY_S), Math.floor(to / DAY_S)];
  let count = 0;
  for (let day = allowedDay(expression, firstDay, lastDay + 1); day !== undefined; day = allowedDay(expression, day + 1, lastDay + 1)) {
    const before = timesBefore(expression, Math.min(DAY_S, to - day * DAY_S));
    count += before - timesBefore(expression, Math.max(0, from - day * DAY_S));
  }
  return count;
}

/** The first allowed day in [from, to), in days since 1970; months that are not allowed are passed over whole. */
function allowedDay({ months, isDay }: CronExpression, from: number, to: number): number | undefined {
  const start = new Date(from * DAY_S * 1000);
  let [year, month, date] = [start.getUTCFullYear(), start.getUTCMonth() + 1, start.getUTCDate()];
  for (let day = from; day < to; ) {
    const length = monthLength(year, month);
    if (months.has(month)) {
      for (let offset = 0; date + offset <= length && day + offset < to; offset += 1) {
        if (isDay({ day: date + offset, length, weekday: weekdayOf(day + offset) })) return day + offset;
      }
    }
    day += length - date + 1;
    date = 1;
    month = (month % 12) + 1;
    if (month === 1) year += 1;
  }
  return undefined;
}

function isAllowed(expression: CronExpression, day: number): boolean {
  return allowedDay(expression, day, day + 1) !== undefined;
}

/** Seconds of the day. */
function timeAtOrAfter({ hours, minutes, seconds }: CronExpression, least: number): number | undefined {
  const [leastHour, leastMinute, leastSecond] = [Math.floor(least / 3600), Math.floor(least / 60) % 60, least % 60];
  const [firstMinute = 0, firstSecond = 0] = [minutes[0], seconds[0]];
  for (const hour of hours) {
    if (hour < leastHour) continue;
    if (hour > leastHour) return hour * 3600 + firstMinute * 60 + firstSecond;
    for (const minute of minutes) {
      if (minute < leastMinute) continue;
      if (minute > leastMinute) return hour * 3600 + minute * 60 + firstSecond;
      const second = seconds.find((value) => value >= leastSecond);
      if (second !== undefined) return hour * 3600 + minute * 60 + second;
    }
  }
  return undefined;
}

/** How many allowed times of day come before `limit` seconds. */
function timesBefore({ hours, minutes, seconds }: CronExpression, limit: number): number {
  const [hour, minute, second] = [Math.floor(limit / 3600), Math.floor(limit / 60) % 60, limit % 60];
  const below = (values: readonly number[], bound: number): number => values.filter((value) => value < bound).length;
  const wholeHours = below(hours, hour) * minutes.length * seconds.length;
  if (!hours.includes(hour)) return wholeHours;
  const wholeMinutes = below(minutes, minute) * seconds.length;
  return wholeHours + wholeMinutes + (minutes.includes(minute) ? below(seconds, second) : 0);
}

const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const monthLength = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
