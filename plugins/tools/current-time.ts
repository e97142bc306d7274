import type { Clock, Tool } from '../../kernel/index.ts';
import { defineTool, fail, ok } from '../../kernel/index.ts';

/** `current_time`: date and time in a zone. */
export const currentTimeTool = (clock: Clock): Tool =>
  defineTool({
    name: 'current_time',
    description:
      'Tell the current date and time. Use it for anything that depends on today. Returns "yyyy-MM-dd HH:mm:ss" and the offset from UTC, ' +
      'for example "2026-07-22 09:30:00 +08:00".',
    readOnly: true,
    idempotent: true,
    aliases: { time_zone: 'timezone' },
    input: {
      type: 'object',
      properties: {
        timezone: { type: 'string', description: 'IANA name such as "Asia/Shanghai". Default: the zone of the server.' },
      },
      additionalProperties: false,
    },
    async execute({ timezone = '' }) {
      const zone = timezone.trim();
      try {
        return ok(timeIn(zone === '' ? undefined : zone, clock.now()));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return fail(`Unknown time zone: ${zone} (use an IANA name such as "Asia/Shanghai")`);
      }
    },
  });

/** Throws RangeError for a zone that does not exist. */
function timeIn(timeZone: string | undefined, at: number): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  // "GMT+08:00", and plain "GMT" for no offset at all.
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}:${part('second')} ${offset}`;
}
