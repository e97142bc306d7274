/** The cases that are functions of their own, with few rounds for every run of the tests and as many as the corpus asks for. */
import { apiCases } from './api-cases.ts';
import type { RunCase } from './corpus.ts';
import { CannotRun } from './corpus.ts';
import { crashCases } from './crash-cases.ts';
import { databaseCases } from './database-cases.ts';
import { killRandom } from './kill-random-case.ts';
import { machineCases } from './machine-cases.ts';
import { migrationCases } from './migration-cases.ts';
import { pluginCases } from './plugin-cases.ts';
import { providerFaultCases } from './provider-fault-cases.ts';
import { scheduleCases } from './schedule-cases.ts';
import { secretCases } from './secret-cases.ts';

/** Those that take long with all rounds, and why. They are played in both ways; what waits for most of a minute only in the slow one. */
const LONG: ReadonlyMap<string, string> = new Map([
  ['api-cron-every-second', '1,000 schedules for 20 s of real time'],
  ['api-slowloris', 'waits for the timeouts of the server, 55 s'],
  ['api-sse-disconnect', '500 clients'],
  ['api-sse-slow', '20 replies of 10 MB'],
  ['api-sse-too-many', '2,000 connections for 10 s'],
  ['durable-agent-md-crash-write', 'a kill loop'],
  ['durable-db-corrupt-page', 'a page at random, many times'],
  ['durable-disk-full', 'a disk of its own'],
  ['durable-fd-limit', '5,000 calls with few descriptors'],
  ['durable-kill-random', '300 kills, 12 minutes'],
  ['durable-lease-stolen', 'a process that is stopped for 30 s'],
  ['durable-migration-kill', 'a kill loop, 3 minutes'],
  ['durable-sigterm', 'a kill loop'],
  ['durable-uncaught', 'a kill loop'],
  ['durable-watcher-overflow', '35,000 files'],
  ['plugin-hang-load', 'waits for the 30 s that a set-up may take'],
  ['plugin-leak-timer', '100 rounds of loading, 53 s'],
]);
const ONLY_LONG = new Set(['api-slowloris', 'durable-lease-stolen']);

const later: RunCase = async () => {
  throw new CannotRun('it takes most of a minute: npm run test:slow plays it');
};

/** What is played in a slow run, or in any other, by the id of the case. */
export function ownCases(slow: boolean): Readonly<Record<string, RunCase>> {
  const all: Readonly<Record<string, RunCase>> = {
    ...crashCases(slow),
    'durable-kill-random': killRandom(slow ? 300 : 2),
    ...migrationCases(slow),
    ...databaseCases(slow),
    ...machineCases(slow),
    ...providerFaultCases,
    ...apiCases(slow),
    ...scheduleCases(slow),
    ...secretCases,
    ...pluginCases(slow),
  };
  if (slow) return Object.fromEntries(Object.entries(all).filter(([id]) => LONG.has(id)));
  return { ...all, ...Object.fromEntries([...ONLY_LONG].map((id) => [id, later])) };
}
