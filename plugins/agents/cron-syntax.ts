/** The cron dialect: five or six fields as in Spring's CronExpression, checked without computing any time. */

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names that stand for numbers; the first stands for `nameBase`. */
  readonly names?: readonly string[];
  readonly nameBase?: number;
  /** Day fields also take `?`. */
  readonly question?: true;
  /** Checks a part that only this field knows; undefined when the part is none. */
  readonly special?: (part: string, field: Field) => string | null | undefined;
}

const SECOND: Field = { name: 'second', min: 0, max: 59 };
const MINUTE: Field = { name: 'minute', min: 0, max: 59 };
const HOUR: Field = { name: 'hour', min: 0, max: 23 };
const DAY_OF_MONTH: Field = { name: 'day of month', min: 1, max: 31, question: true, special: specialDayOfMonth };
const MONTH: Field = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  nameBase: 1,
};
const DAY_OF_WEEK: Field = {
  name: 'day of week',
  min: 0,
  max: 7,
  names: ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'],
  nameBase: 1,
  question: true,
  special: specialDayOfWeek,
};

const MACROS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const SIX_FIELDS = [SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK] as const;

/**
 * What is wrong with a cron expression, as a sentence that names the field; undefined when it is valid. Six fields (second, minute, hour,
 * day of month, month, day of week) or five (without the second), or a macro such as `@daily`. An expression that never matches is valid.
 */
export function cronProblem(expression: string): string | undefined {
  const text = expression.trim();
  if (text.startsWith('@')) {
    return MACROS.includes(text.toLowerCase()) ? undefined : `"${text}" is not one of ${MACROS.join(', ')}`;
  }
  const parts = text === '' ? [] : text.split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    return `a cron expression has 6 fields (second minute hour day-of-month month day-of-week) or 5 without the second, this one has ${parts.length}`;
  }
  const fields = parts.length === 6 ? SIX_FIELDS : SIX_FIELDS.slice(1);
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(parts[index] ?? '', field);
    if (problem !== undefined) return `field "${field.name}": ${problem}`;
  }
  return undefined;
}

function fieldProblem(text: string, field: Field): string | undefined {
  if (text === '?') return field.question ? undefined : '"?" is allowed only for day of month and day of week';
  for (const part of text.split(',')) {
    if (part === '') return `"${text}" has an empty list item`;
    const problem = partProblem(part.toUpperCase(), field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function partProblem(part: string, field: Field): string | undefined {
  const special = field.special?.(part, field);
  if (special !== undefined) return special ?? undefined;
  const [range = '', step, ...rest] = part.split('/');
  if (rest.length > 0) return `"${part}" has more than one "/"`;
  if (step !== undefined && !(/^\d{1,4}$/.test(step) && Number(step) > 0)) return `the step in "${part}" must be a whole number above 0`;
  return range === '*' ? undefined : rangeProblem(range, field);
}

function rangeProblem(range: string, field: Field): string | undefined {
  const [first = '', last, ...rest] = range.split('-');
  if (rest.length > 0) return `"${range}" is not a range`;
  const from = valueOf(first, field);
  const to = last === undefined ? from : valueOf(last, field);
  if (from === undefined || to === undefined) {
    const wrong = from === undefined ? first : (last ?? '');
    return `"${wrong}" is not between ${field.min} and ${field.max}${field.names === undefined ? '' : ` and not one of ${field.names.join(', ')}`}`;
  }
  const lower = field === DAY_OF_WEEK && last !== undefined && from === 7 ? 0 : from;
  return lower <= to ? undefined : `the range "${range}" runs backwards`;
}

function valueOf(text: string, field: Field): number | undefined {
  const name = field.names?.indexOf(text) ?? -1;
  if (name >= 0) return name + (field.nameBase ?? 0);
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= field.min && value <= field.max ? value : undefined;
}

/** `L`, `L-n`, `LW`, `nW`. Null: valid. */
function specialDayOfMonth(part: string, field: Field): string | null | undefined {
  if (part === 'L' || part === 'LW') return null;
  const [, offset] = /^L-(\d{1,2})$/.exec(part) ?? [];
  if (offset !== undefined) return Number(offset) >= 1 && Number(offset) <= 30 ? null : `the offset in "${part}" must be between 1 and 30`;
  const [, day] = /^(\d{1,2})W$/.exec(part) ?? [];
  if (day !== undefined) return valueOf(day, field) === undefined ? `the day in "${part}" must be between 1 and 31` : null;
  return undefined;
}

/** `dL`, `d#n`. Null: valid. */
function specialDayOfWeek(part: string, field: Field): string | null | undefined {
  if (part === 'L') return '"L" needs a day before it, such as "FRIL"';
  const [, last] = /^(\w+)L$/.exec(part) ?? [];
  if (last !== undefined) return valueOf(last, field) === undefined ? `"${last}" in "${part}" is not a day of the week` : null;
  const [, day, nth] = /^(\w+)#(\d+)$/.exec(part) ?? [];
  if (day === undefined || nth === undefined) return undefined;
  if (valueOf(day, field) === undefined) return `"${day}" in "${part}" is not a day of the week`;
  return Number(nth) >= 1 && Number(nth) <= 5 ? null : `the number after "#" in "${part}" must be between 1 and 5`;
}
