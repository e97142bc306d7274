import { randomUUID } from 'node:crypto';

/**
 * A new id for a turn: a UUID in the shape of version 4, which is what clients check for, but one that begins with the time, as version 7 does
 * (RFC 9562). Rows of turns that run together then stand together in every index, and a commit writes a few pages instead of one for each row.
 *
 * @param at  epoch milliseconds
 */
export function newTurnId(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUID().slice(13)}`;
}
