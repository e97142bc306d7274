/** A cron expression, read: which times of day and which days it allows. Knows no zone. */
import { invalidInput } from '../../kernel/index.ts';
import { cronProblem } from '../agents/contract.ts';
import { type DayRule, dayRule } from './day-rule.ts';
import { fieldValues } from './field-values.ts';

/** What an expression allows. The lists are ascending and never empty. */
export interface CronExpression {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** 1 to 12. */
  readonly months: ReadonlySet<number>;
  readonly isDay: DayRule;
  /** It allows every hour, so that it tells an interval rather than a time of day. */
  readonly isInterval: boolean;
}

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 0 1 1 *',
  '@annually': '0 0 0 1 1 *',
  '@monthly': '0 0 0 1 * *',
  '@weekly': '0 0 0 * * 0',
  '@daily': '0 0 0 * * *',
  '@midnight': '0 0 0 * * *',
  '@hourly': '0 0 * * * *',
};
const MAX_KEPT = 1_000;
const kept = new Map<string, CronExpression>();

/** Reads five or six fields or a macro. Throws ORYX_INVALID_INPUT, with the field at fault, for an expression that is not valid. */
export function cronExpression(text: string): CronExpression {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const problem = cronProblem(text);
  if (problem !== undefined) throw invalidInput(`cron "${text}" is not valid: ${problem}`);
  if (kept.size >= MAX_KEPT) kept.clear();
  const expression = read(text.trim());
  kept.set(text, expression);
  return expression;
}

function read(text: string): CronExpression {
  const fields = (MACROS[text.toLowerCase()] ?? text).split(/\s+/);
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] =
    fields.length === 5 ? ['0', ...fields] : fields;
  const hours = fieldValues('hour', hour);
  return {
    seconds: fieldValues('second', second),
    minutes: fieldValues('minute', minute),
    hours,
    months: new Set(fieldValues('month', month)),
    isDay: dayRule(dayOfMonth, dayOfWeek),
    isInterval: hours.length === 24,
  };
}
