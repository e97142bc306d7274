/** Time zones as schedules name them. */

const OFFSET = /^(?:(?:UTC|GMT)(?=[+-]))?[+-](\d{1,2})(?::?(\d{2}))?$/;

/** Is it an IANA zone ("Europe/Paris"), `UTC`, `GMT`, `Z`, or an offset ("+08:00", "UTC+8", at most 18 hours)? */
export function isZone(zone: string): boolean {
  if (zone === 'Z' || zone === 'UTC' || zone === 'GMT') return true;
  const [, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
  if (hours !== undefined) return Number(hours) * 60 + Number(minutes) <= 18 * 60 && Number(minutes) < 60;
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
