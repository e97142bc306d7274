/** Stamps: what a finished piece of work was made from. Without one the work counts as not done. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** @returns {Record<string, string> | undefined} nothing for a missing or damaged stamp */
export function readStamp(file) {
  try {
    const stamp = JSON.parse(readFileSync(file, 'utf8'));
    return typeof stamp === 'object' && stamp !== null ? stamp : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces a stamp; readers see the old or the new one. */
export function writeStamp(file, stamp) {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(stamp, null, 2)}\n`);
  renameSync(temporary, file);
}

/** Takes a stamp away, before its work is done anew. */
export function dropStamp(file) {
  rmSync(file, { force: true });
}

/** @returns {boolean} whether both say the same */
export function sameStamp(a, b) {
  return a !== undefined && Object.keys(b).every((key) => a[key] === b[key]);
}

/** @param {Iterable<string | Uint8Array>} parts @returns {string} hash of the parts in order */
export function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 32);
}
