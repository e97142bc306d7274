/** Processes that carry a mark in their environment. */
import { readFile, readdir } from 'node:fs/promises';

/** Ids of the processes that were started with `mark` ("NAME=value"), without this one. */
export async function marked(mark: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    if (environment.split('\0').includes(mark)) found.push(Number(name));
  }
  return found;
}
