/** Spring's rules for days: day of month and day of week, both of which must hold. */
import { fieldValues } from './field-values.ts';

/** A day of a month. */
export interface Day {
  /** 1 to 31. */
  readonly day: number;
  /** How many days the month has. */
  readonly length: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** Does the schedule run on that day? */
export type DayRule = (day: Day) => boolean;

const WEEKDAY_NAMES = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

/** The rule of two valid fields. `?` allows every day, as `*` does. */
export function dayRule(dayOfMonth: string, dayOfWeek: string): DayRule {
  const month = anyOf(dayOfMonth, monthRule);
  const week = anyOf(dayOfWeek, weekRule);
  return (day) => month(day) && week(day);
}

function anyOf(field: string, ruleOf: (part: string) => DayRule): DayRule {
  if (field === '*' || field === '?') return () => true;
  const rules = field.toUpperCase().split(',').map(ruleOf);
  return (day) => rules.some((rule) => rule(day));
}

function monthRule(part: string): DayRule {
  if (part === 'L') return ({ day, length }) => day === length;
  if (part === 'LW') return (day) => day.day === nearestWeekday(day, day.length);
  if (part.startsWith('L-')) {
    const before = Number(part.slice(2));
    return ({ day, length }) => day === length - before;
  }
  if (part.endsWith('W')) {
    const wanted = Number(part.slice(0, -1));
    return (day) => wanted <= day.length && day.day === nearestWeekday(day, wanted);
  }
  const days = new Set(fieldValues('dayOfMonth', part));
  return ({ day }) => days.has(day);
}

function weekRule(part: string): DayRule {
  const numbers = WEEKDAY_NAMES.reduce((text, name, index) => text.replaceAll(name, String(index + 1)), part);
  const [weekday = '', nth] = numbers.split('#');
  if (nth !== undefined) return (day) => day.weekday === Number(weekday) % 7 && Math.ceil(day.day / 7) === Number(nth);
  if (numbers.endsWith('L')) {
    const wanted = Number(numbers.slice(0, -1)) % 7;
    return ({ day, length, weekday: today }) => today === wanted && day > length - 7;
  }
  // Sunday opens a range as 0 and closes one as 7.
  const weekdays = new Set(fieldValues('dayOfWeek', numbers.replace(/^7-/, '0-')));
  return ({ weekday: today }) => weekdays.has(today);
}

/** The weekday (Monday to Friday) nearest to the day `wanted` within the same month. */
function nearestWeekday({ day, length, weekday }: Day, wanted: number): number {
  const wantedWeekday = (((weekday + wanted - day) % 7) + 7) % 7;
  if (wantedWeekday === 6) return wanted === 1 ? 3 : wanted - 1;
  if (wantedWeekday === 0) return wanted === length ? wanted - 2 : wanted + 1;
  return wanted;
}
