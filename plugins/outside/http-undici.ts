/** undici, loaded with the first request. */
import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import { codeOf } from './errno.ts';

const load = createRequire(import.meta.url);
// Found at the start, when there are files to open: Node remembers for ever what it could not find once.
const file = load.resolve('undici');

/**
 * The module. Throws an Error that can be shown when it cannot be loaded, for too many open files say, and tries anew the next time: an
 * `import()` that has failed once fails for the life of the process.
 */
export function loadUndici(): typeof Undici {
  try {
    return load(file) as typeof Undici;
  } catch (error) {
    throw new Error(`the HTTP client could not be loaded (${codeOf(error) || 'unknown error'}); try again`, { cause: error });
  }
}
