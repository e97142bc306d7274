/** The measured process of a burst of schedules: a whole server whose schedules are all due at one instant, on a model that answers at once. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boot } from '../../config/boot.ts';
import { type LlmResult, type ProviderAdapter, systemClock } from '../../kernel/index.ts';
import { agentFile } from '../harness/start-host.ts';
import { until } from '../harness/until.ts';
import type { Burst } from './schedules.ts';

const PER_AGENT = 100;
const { count } = JSON.parse(process.argv[2] ?? '{}') as { count: number };
/** The start must be over by then. */
const LEAD_MS = 8_000 + 2 * count;

const home = mkdtempSync(join(tmpdir(), 'oryxos-burst-'));
const root = join(home, 'workspace');
const slot = Math.ceil((Date.now() + LEAD_MS) / 1000) * 1000;
const at = new Date(slot);
const cron = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`;
for (let first = 0; first < count; first += PER_AGENT) {
  const name = `burst${first / PER_AGENT}`;
  const keys = Array.from({ length: Math.min(PER_AGENT, count - first) }, (_, index) => `s${index}`);
  const entries = keys.map((key) => `  - {key: ${key}, name: ${key}, cron: "${cron}", zone: UTC, message: go}`);
  mkdirSync(join(root, 'agents', name), { recursive: true });
  writeFileSync(join(root, 'agents', name, 'AGENT.md'), agentFile(name, `tools: []\nschedules:\n${entries.join('\n')}`));
}

const usage = { promptTokens: null, completionTokens: null, totalTokens: null, cachedTokens: null, reasoningTokens: null };
const answer: LlmResult = { ok: true, reply: { content: 'ok', toolCalls: [], finishReason: 'stop', usage } };
const adapter: ProviderAdapter = {
  name: 'openai',
  connect: () => ({ chat: async () => answer, models: async () => ({ ok: true, models: [] }) }),
};

/** A clock that tells when the timer that comes with the slot, which is the timetable's, has told the dispatcher of all of them. */
const real = systemClock();
let toldAt = Number.NaN;
const clock: typeof real = {
  ...real,
  after: (delayMs, fn) =>
    real.after(delayMs, () => {
      fn();
      if (Number.isNaN(toldAt) && real.now() >= slot) toldAt = real.now();
    }),
};
const host = await boot({
  mode: 'serve',
  root,
  cwd: home,
  env: {},
  flags: { 'server.port': 0, 'logging.format': 'off', 'oryxos.providers': [{ name: 'scripted', baseUrl: 'http://127.0.0.1:9/v1' }] },
  clock,
  adapters: [adapter],
});
if (Date.now() > slot - 1_000) throw new Error(`the start took longer than ${LEAD_MS} ms`);
const store = host.kernel.service('store');
const countOf = async (table: string): Promise<number> =>
  (await store.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))?.count ?? 0;

const live = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
await new Promise((resolve) => setTimeout(resolve, slot - 700 - Date.now()));
const before = live();
const rssBefore = process.memoryUsage.rss();
let peakRss = rssBefore;
/** When so many of a table's rows were there for the first time. */
const reached = async (table: string, wanted: number): Promise<number> => {
  await until(
    `${wanted} rows of ${table}`,
    async () => {
      peakRss = Math.max(peakRss, process.memoryUsage.rss());
      return (await countOf(table)) >= wanted;
    },
    600_000,
  );
  return Date.now() - slot;
};
const most = Math.ceil(count * 0.99);
const [claimedMs, acceptedMs, waitingBytes] = await Promise.all([
  reached('task_executions', most),
  reached('agent_executions', most),
  reached('task_executions', count).then(() => live() - before),
]);
await until(
  'every run to end',
  async () => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
    const row = await store.get<{ count: number }>("SELECT count(*) AS count FROM task_executions WHERE status = 'running'");
    return row?.count === 0;
  },
  600_000,
);
const endedMs = Date.now() - slot;
const starts = await store.all<{ started_at: number }>('SELECT started_at FROM task_executions ORDER BY started_at');
const ended = await store.all<{ status: string; count: number }>('SELECT status, count(*) AS count FROM task_executions GROUP BY 1');
const result: Burst = {
  slots: starts.length,
  toldMs: toldAt - slot,
  dispatchedMs: (starts[most - 1]?.started_at ?? Number.NaN) - slot,
  claimedMs,
  acceptedMs,
  endedMs,
  waitingBytes,
  peakRssBytes: peakRss - rssBefore,
  ended: Object.fromEntries(ended.map((row) => [row.status, row.count])),
};
await host.close();
rmSync(home, { recursive: true, force: true });
process.send?.(result, () => process.exit(0));
