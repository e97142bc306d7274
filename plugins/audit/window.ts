import { invalidInput } from '../../kernel/index.ts';

const DEFAULT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

/** Two instants in epoch milliseconds; both belong to it. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Rows that have something in common, added up. */
export interface Group {
  readonly key: string | null;
  readonly count: number;
  readonly success_count: number;
  readonly cost_micros: number | null;
}

/** Query parameters of a window. */
export const windowQuery = {
  from: { type: 'string', format: 'date-time', description: 'First instant, ISO 8601. Default: 30 days before `to`.' },
  to: { type: 'string', format: 'date-time', description: 'Last instant, ISO 8601. Default: now.' },
} as const;

/** The window that a query asks for; the last 30 days when it does not say. Throws ORYX_INVALID_INPUT for what is no instant. */
export function windowFrom(query: { readonly from?: string; readonly to?: string }, now: number): Window {
  const to = query.to === undefined ? now : instant(query.to, 'to');
  return { from: query.from === undefined ? to - DEFAULT_DAYS * DAY_MS : instant(query.from, 'from'), to };
}

/** How many rows a query asks for: 100 when it does not say, never less than 1 or more than 500. */
export const limitFrom = (limit: number = DEFAULT_LIMIT): number => Math.min(MAX_LIMIT, Math.max(1, Math.trunc(limit)));

function instant(text: string, name: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidInput(`${name} must be an instant such as 2026-07-22T00:00:00Z`);
  return at;
}
