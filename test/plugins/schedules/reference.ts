/** A slow, independent model of schedules: every second is looked at, and clocks are read off the platform. */
import { cronExpression } from '../../../plugins/schedules/cron-expression.ts';
import { nextFire } from '../../../plugins/schedules/next-fire.ts';
import { slotsBetween } from '../../../plugins/schedules/slots.ts';
import { timeZone } from '../../../plugins/schedules/time-zone.ts';

/** Random numbers that can be had again. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a clock shows: its text is its identity. */
export interface Shown {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

type Test = (shown: Shown) => boolean;

/** A random expression with its meaning, made together so that nothing has to be parsed. */
export interface RandomExpression {
  readonly text: string;
  readonly matches: Test;
  readonly everyHour: boolean;
}

export function randomExpression(random: (below: number) => number): RandomExpression {
  const second = random(6) === 0 ? field(random, 0, 59) : single(random(3) === 0 ? random(60) : 0);
  const minute = field(random, 0, 59);
  // Clocks change in the small hours.
  const hour = random(3) === 0 ? { text: '*', has: () => true } : random(2) === 0 ? single(random(4)) : field(random, 0, 23);
  const [dom, dow] = random(2) === 0 ? [anyDay, anyDay] : [dayOfMonth(random), dayOfWeek(random)];
  const month = random(4) === 0 ? field(random, 1, 12) : { text: '*', has: () => true };
  return {
    text: [second.text, minute.text, hour.text, dom.text, month.text, dow.text].join(' '),
    matches: (shown) =>
      second.has(shown.second) &&
      minute.has(shown.minute) &&
      hour.has(shown.hour) &&
      month.has(shown.month) &&
      dom.matches(shown) &&
      dow.matches(shown),
    everyHour: Array.from({ length: 24 }, (_, value) => value).every((value) => hour.has(value)),
  };
}

interface Field {
  readonly text: string;
  readonly has: (value: number) => boolean;
}

const single = (value: number): Field => ({ text: String(value), has: (other) => other === value });

function field(random: (below: number) => number, min: number, max: number): Field {
  const parts = Array.from({ length: 1 + random(2) }, () => part(random, min, max));
  return { text: parts.map(({ text }) => text).join(','), has: (value) => parts.some(({ has }) => has(value)) };
}

function part(random: (below: number) => number, min: number, max: number): Field {
  const [from, step] = [min + random(max - min + 1), 1 + random(20)];
  const to = from + random(max - from + 1);
  const stepped = (first: number, last: number) => (value: number) => value >= first && value <= last && (value - first) % step === 0;
  switch (random(6)) {
    case 0:
      return { text: '*', has: () => true };
    case 1:
      return { text: `*/${step}`, has: stepped(min, max) };
    case 2:
      return { text: `${from}/${step}`, has: stepped(from, max) };
    case 3:
      return { text: `${from}-${to}/${step}`, has: stepped(from, to) };
    case 4:
      return { text: `${from}-${to}`, has: (value) => value >= from && value <= to };
    default:
      return single(from);
  }
}

interface DayField {
  readonly text: string;
  readonly matches: Test;
}

const anyDay: DayField = { text: '*', matches: () => true };
const weekday = ({ year, month, day }: Shown): number => new Date(Date.UTC(year, month - 1, day)).getUTCDay();
const isWorkday = (shown: Shown): boolean => weekday(shown) >= 1 && weekday(shown) <= 5;
const isInMonth = ({ year, month, day }: Shown): boolean => new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
const lastDay = (shown: Shown): number => [31, 30, 29, 28].find((day) => isInMonth({ ...shown, day })) ?? 0;

function dayOfMonth(random: (below: number) => number): DayField {
  const n = 1 + random(31);
  switch (random(7)) {
    case 0:
      return { ...anyDay, text: '?' };
    case 1:
      return { text: 'L', matches: (shown) => shown.day === lastDay(shown) };
    case 2:
      return { text: `L-${n > 30 ? 30 : n}`, matches: (shown) => shown.day === lastDay(shown) - (n > 30 ? 30 : n) };
    case 3:
      return { text: 'LW', matches: (shown) => shown.day === nearestWorkday(shown, lastDay(shown)) };
    case 4:
      return { text: `${n}W`, matches: (shown) => isInMonth({ ...shown, day: n }) && shown.day === nearestWorkday(shown, n) };
    default: {
      const days = field(random, 1, 31);
      return { text: days.text, matches: ({ day }) => days.has(day) };
    }
  }
}

/** The working day of the month with the least distance; there is never a tie, as days off come in pairs. */
function nearestWorkday(shown: Shown, wanted: number): number {
  const days = Array.from({ length: lastDay(shown) }, (_, index) => index + 1).filter((day) => isWorkday({ ...shown, day }));
  return days.sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0] ?? 0;
}

const NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'sun'];

function dayOfWeek(random: (below: number) => number): DayField {
  const n = random(8);
  const name = random(2) === 0 ? String(n) : (NAMES[n] ?? '');
  const isDay: Test = (shown) => weekday(shown) === n % 7;
  switch (random(6)) {
    case 0:
      return { ...anyDay, text: '?' };
    case 1:
      return { text: `${name}L`, matches: (shown) => isDay(shown) && !isInMonth({ ...shown, day: shown.day + 7 }) };
    case 2: {
      const nth = 1 + random(5);
      return { text: `${name}#${nth}`, matches: (shown) => isDay(shown) && shown.day > 7 * (nth - 1) && shown.day <= 7 * nth };
    }
    case 3: {
      const from = 1 + random(5);
      return { text: `${NAMES[from]}-${NAMES[from + 1]}`, matches: (shown) => weekday(shown) === from || weekday(shown) === from + 1 };
    }
    case 4:
      return { text: `${name},WED`, matches: (shown) => isDay(shown) || weekday(shown) === 3 };
    default:
      return { text: name, matches: isDay };
  }
}

/** What clocks show during a stretch of time, second by second. */
export interface Window {
  readonly zone: string;
  /** Epoch seconds of the first entry. */
  readonly from: number;
  readonly shown: readonly Shown[];
}

export function windowAround(zone: string, centre: number, seconds: number): Window {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const from = Math.floor(centre / 1000) - seconds;
  const shown = Array.from({ length: 2 * seconds }, (_, index) => {
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = format
      .format((from + index) * 1000)
      .split(/[- :]/)
      .map(Number);
    return { year, month, day, hour, minute, second };
  });
  return { zone, from, shown };
}

const asSeconds = (shown: Shown): number => Date.UTC(shown.year, shown.month - 1, shown.day, shown.hour, shown.minute, shown.second) / 1000;

function fromSeconds(seconds: number): Shown {
  const date = new Date(seconds * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** Epoch seconds at which the expression fires after the first second of the window. */
export function referenceFires({ from, shown }: Window, { matches, everyHour }: RandomExpression): readonly number[] {
  const fires: number[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const [index, now] of shown.entries()) {
    const wall = asSeconds(now);
    const before = index === 0 ? wall - 1 : asSeconds(shown[index - 1] ?? now);
    const isAgain = wall <= latest;
    let isDue = matches(now) && (everyHour || !isAgain);
    for (let left = before + 1; left < wall && !isDue; left += 1) isDue = matches(fromSeconds(left));
    if (isDue && index > 0) fires.push(from + index);
    latest = Math.max(latest, wall);
  }
  return fires;
}

/** Where the product and the model differ in a window; undefined where they agree. */
export function difference(window: Window, expression: RandomExpression): string | undefined {
  const [cron, zone] = [cronExpression(expression.text), timeZone(window.zone)];
  const end = window.from + window.shown.length - 1;
  const expected = referenceFires(window, expression);
  const found: number[] = [];
  for (
    let fire = nextFire(cron, zone, window.from * 1000);
    fire !== undefined && fire.at <= end * 1000;
    fire = nextFire(cron, zone, fire.at)
  ) {
    found.push(fire.at / 1000);
  }
  const at = Array.from({ length: Math.max(expected.length, found.length) }, (_, index) => index).find(
    (index) => expected[index] !== found[index],
  );
  const text = (seconds: number | undefined): string => (seconds === undefined ? 'nothing' : new Date(seconds * 1000).toISOString());
  const where = `"${expression.text}" in ${window.zone}`;
  if (at !== undefined) return `${where}: expected ${text(expected[at])}, found ${text(found[at])}`;
  const count = slotsBetween(cron, zone, window.from * 1000, end * 1000)?.count ?? 0;
  if (count !== expected.length) return `${where} from ${text(window.from)}: expected ${expected.length} slots, counted ${count}`;
  return undefined;
}

/** Epoch milliseconds of every change of clocks in the years. */
export function changesOf(zone: string, years: readonly number[]): readonly number[] {
  const offset = (at: number): string | undefined =>
    new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName')?.value;
  const changes: number[] = [];
  for (let at = Date.UTC(years[0] ?? 0, 0, 1); at < Date.UTC((years.at(-1) ?? 0) + 1, 0, 1); at += 86_400_000) {
    if (offset(at) === offset(at + 86_400_000)) continue;
    let hour = at;
    while (offset(hour + 1_800_000) === offset(at)) hour += 1_800_000;
    changes.push(hour + 1_800_000);
  }
  return changes;
}
