/** Schedules as an AGENT.md declares them. */
import type { ScheduleView } from './contract.ts';
import { cronProblem } from './cron-syntax.ts';
import { type Section } from './section.ts';
import { isZone } from './zone.ts';

const MAX_KEY_LENGTH = 128;
const DAY_SECONDS = 86_400;
const KNOWN = ['key', 'id', 'name', 'cron', 'zone', 'message', 'missed', 'max_delay', 'overlap', 'timeout_seconds', 'on_failure'];

/** Reads and checks the list `schedules`. Throws FieldFault for the first mistake; unknown keys go to `onWarning`. */
export function schedulesOf(root: Section, onWarning: (warning: string) => void): readonly ScheduleView[] {
  const lines = new Map<string, number>();
  return root.sections('schedules').map((entry) => {
    const schedule = scheduleOf(entry);
    const earlier = lines.get(schedule.key);
    const field = entry.has('key') ? 'key' : 'id';
    if (earlier !== undefined) throw entry.fault(field, `"${schedule.key}" is used twice, first on line ${earlier}`);
    lines.set(schedule.key, entry.positionOf(field).line);
    for (const warning of entry.unknownKeys(KNOWN)) onWarning(warning);
    return schedule;
  });
}

function scheduleOf(entry: Section): ScheduleView {
  const key = keyOf(entry);
  const name = entry.has('name') || entry.has('key') ? entry.text('name') : key;
  const cron = entry.text('cron');
  const problem = cronProblem(cron);
  if (problem !== undefined) throw entry.fault('cron', `is not a valid cron expression: ${problem}`);
  const zone = entry.optionalText('zone')?.trim() || null;
  if (zone !== null && !isZone(zone)) throw entry.fault('zone', `"${zone}" is not a time zone: use an IANA name such as "Asia/Shanghai"`);
  checkRules(entry);
  return { id: key, key, name, cron, zone, message: entry.scalarText('message') ?? null };
}

/** `key`, or `id` as older files call it. */
function keyOf(entry: Section): string {
  const key = entry.has('key') ? entry.text('key') : undefined;
  const id = entry.has('id') ? entry.text('id') : undefined;
  if (key !== undefined && id !== undefined && key !== id) throw entry.fault('id', `"${id}" differs from key "${key}": give only "key"`);
  const found = key ?? id ?? entry.text('key');
  // oxlint-disable-next-line no-control-regex -- a key stands in URLs and log lines
  if (found.length > MAX_KEY_LENGTH || /[\u0000-\u001f\u007f]/.test(found)) {
    throw entry.fault(key === undefined ? 'id' : 'key', `must be at most ${MAX_KEY_LENGTH} characters on one line`);
  }
  return found;
}

function checkRules(entry: Section): void {
  entry.optionalChoice('missed', ['once', 'skip']);
  entry.optionalChoice('overlap', ['skip', 'queue']);
  entry.optionalInteger('timeout_seconds', 1, DAY_SECONDS);
  if (entry.has('on_failure')) entry.text('on_failure');
  if (entry.has('max_delay') && !/^\d+(s|m|h|d)$/.test(entry.text('max_delay'))) {
    throw entry.fault('max_delay', 'must be a number with a unit, such as 30s, 10m, 2h or 1d');
  }
}
