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

/** Those that take long with all rounds, and are played in both ways; what waits for most of a minute is played only in the slow one. */
const LONG = new Set([
  'api-cron-every-second',
  'api-slowloris',
  'api-sse-disconnect',
  'api-sse-slow',
  'api-sse-too-many',
  'durable-agent-md-crash-write',
  'durable-db-corrupt-page',
  'durable-disk-full',
  'durable-fd-limit',
  'durable-kill-random',
  'durable-lease-stolen',
  'durable-migration-kill',
  'durable-sigterm',
  'durable-uncaught',
  'durable-watcher-overflow',
  'plugin-hang-load',
  'plugin-leak-timer',
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
