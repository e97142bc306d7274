/** Schedules as an agent declares them; the front matter has been checked when the agent became live. */
import type { Profile } from '../../kernel/index.ts';

/** What becomes of a slot that could not run in time, or comes while the schedule still runs. */
export interface SlotRules {
  readonly missed: 'once' | 'skip';
  /** A missed slot older than this is only recorded. */
  readonly maxDelayMs: number;
  readonly overlap: 'skip' | 'queue';
  readonly timeoutMs: number | undefined;
  /** Notify channel that hears of failures. */
  readonly onFailure: string | undefined;
}

/** One entry of `schedules` in an AGENT.md. */
export interface DeclaredSchedule {
  readonly profile: string;
  readonly key: string;
  readonly name: string;
  readonly cron: string;
  readonly zone: string | null;
  readonly message: string | null;
  readonly rules: SlotRules;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DEFAULT_MAX_DELAY_MS = 10 * 60_000;

/** The schedules of an agent, in the order of its file. */
export function declaredSchedules(profile: Profile): readonly DeclaredSchedule[] {
  const { schedules } = profile.frontmatter;
  if (!Array.isArray(schedules)) return [];
  return schedules.map((entry: unknown) => declared(profile.name, entry as Readonly<Record<string, unknown>>));
}

function declared(profile: string, entry: Readonly<Record<string, unknown>>): DeclaredSchedule {
  const key = textOf(entry['key'] ?? entry['id']);
  return {
    profile,
    key,
    name: entry['name'] === undefined || entry['name'] === null ? key : textOf(entry['name']),
    cron: textOf(entry['cron']),
    zone: textOf(entry['zone']).trim() || null,
    message: entry['message'] === undefined || entry['message'] === null ? null : textOf(entry['message']),
    rules: {
      missed: entry['missed'] === 'skip' ? 'skip' : 'once',
      maxDelayMs: durationMs(textOf(entry['max_delay'])) ?? DEFAULT_MAX_DELAY_MS,
      overlap: entry['overlap'] === 'queue' ? 'queue' : 'skip',
      timeoutMs: typeof entry['timeout_seconds'] === 'number' ? entry['timeout_seconds'] * 1000 : undefined,
      onFailure: textOf(entry['on_failure']).trim() || undefined,
    },
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** "30s", "10m", "2h", "1d". */
function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}
