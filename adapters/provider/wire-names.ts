/** Tool names as model servers accept them. */
import { createHash } from 'node:crypto';

const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_CHARS = 12;
const LOOKS_ENCODED = /_[0-9a-f]{12}$/;

/**
 * The name of a tool on the wire: itself where servers accept it, else a readable stem and a part of its hash, 64 characters at most.
 * It depends on the name alone, so a call in the history keeps its wire name whatever else is offered. Names that happen to look encoded are
 * encoded too; so no two names share one.
 */
export function wireName(name: string): string {
  if (ACCEPTED.test(name) && !LOOKS_ENCODED.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS);
  const stem = name.slice(0, 64 - HASH_CHARS - 1).replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `${stem}_${hash}`;
}
