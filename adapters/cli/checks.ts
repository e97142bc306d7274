/** Checks of values that are typed on the command line; each says what is wrong, or nothing. */
import type { Check } from './args.ts';

/** Names of agents and providers. No path can be made of one. */
export const nameCheck: Check = (value) =>
  /^[A-Za-z0-9_-]{1,64}$/.test(value) ? undefined : `must be 1 to 64 letters, digits, "_" or "-"`;

/** User ids. */
export const userCheck: Check = (value) =>
  /^[A-Za-z0-9_.@-]{1,64}$/.test(value) ? undefined : `must be 1 to 64 letters, digits, "_", ".", "@" or "-"`;

/** Port numbers; 0 is "any free one". */
export const portCheck: Check = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : 'must be a number from 0 to 65535';

/** Values that may not be blank. */
export const textCheck: Check = (value) => (value.trim() === '' ? 'must not be blank' : undefined);

/** One of a few words. */
export function oneOf(...allowed: readonly string[]): Check {
  return (value) => (allowed.includes(value) ? undefined : `must be one of ${allowed.join(', ')}`);
}
