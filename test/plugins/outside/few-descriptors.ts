/** A process that uses up its descriptors, asks for the HTTP client, gives them back and asks again. Prints what came of it. */
import { closeSync, openSync } from 'node:fs';
import { loadUndici } from '../../../plugins/outside/http-undici.ts';

const used: number[] = [];
try {
  for (;;) used.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
const first = loaded();
for (const fd of used) closeSync(fd);
process.stdout.write(`${first}\n${loaded()}\n`);

function loaded(): string {
  try {
    return typeof loadUndici().Client === 'function' ? 'loaded' : 'something else';
  } catch (error) {
    return (error as Error).message;
  }
}
