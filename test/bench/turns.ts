/**
 * `npm run bench`: what a turn costs, beside the least that it could cost, in one run. Product and floor are up together and idle while the other
 * is measured; a round measures each once, in changing order, and ratios are those of a round. Trust ratios and CPU times, not wall times.
 *
 *   --rounds N      rounds (7)
 *   --quick         little of everything: shows that it works, not how fast it is
 *   --json FILE     the figures of every round
 *   --profile FILE  instead of measuring, a CPU profile of the product at 16 turns at a time, and what it says by module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Compared, compare, costOf, type Effort, type Figures, measure, median } from './figures.ts';
import { type Client, clientOf } from './load.ts';
import { type Peer, startPeer } from './peer.ts';
import { selfTimes } from './profile.ts';

const FULL: Effort = {
  rounds: 7,
  turns: { c1: 200, c16: 800, c64: 800 },
  longStreams: 20,
  shortStreams: 60,
  coldStarts: 5,
  totalTurns: 5_000,
};
/** For a look whether everything works. */
export const QUICK: Effort = {
  rounds: 1,
  turns: { c1: 5, c16: 16, c64: 64 },
  longStreams: 1,
  shortStreams: 3,
  coldStarts: 1,
  totalTurns: 100,
};
const AGENTS = 10;
/** Until compilers have done their work; a server runs for days. */
const WARM_UP_TURNS = 2_000;

/** The outcome of a run. */
export interface BenchReport {
  readonly compared: readonly Compared[];
  readonly rounds: readonly { readonly product: Figures; readonly floor: Figures }[];
  /** Rows of the product at the end, by table, and how many turns were asked for. */
  readonly rows: Readonly<Record<string, number>>;
  readonly turns: number;
}

/** Runs the whole benchmark in temporary directories, which it removes. Rejects when an answer or the number of stored turns is wrong. */
export async function bench(effort: Effort, print: (line: string) => void): Promise<BenchReport> {
  await using model = await startPeer('model', {});
  const starts = await coldStarts(effort.coldStarts, model);
  await using floor = await startMeasured('floor', model);
  await using product = await startMeasured('product', model);
  const idle = { product: (await product.peer.usage()).rssBytes, floor: (await floor.peer.usage()).rssBytes };
  const warmUp = Math.min(WARM_UP_TURNS, effort.totalTurns);
  for (const { peer, client } of [floor, product]) await costOf(peer, client, warmUp, { ...SAID, concurrency: 16 });

  const rounds: { product: Figures; floor: Figures }[] = [];
  for (let round = 1; round <= effort.rounds; round += 1) {
    const order = round % 2 === 0 ? [floor, product] : [product, floor];
    const found: Record<string, Figures> = {};
    for (const { peer, client } of order) found[peer.name] = await measure(peer, client, effort);
    rounds.push({ product: found['product'] ?? {}, floor: found['floor'] ?? {} });
    print(`round ${round} of ${effort.rounds}`);
  }

  const perRound = Object.values(effort.turns).reduce((sum, count) => sum + count, 2 * effort.longStreams + effort.shortStreams);
  const missing = Math.max(0, effort.totalTurns - warmUp - perRound * effort.rounds);
  for (const { peer, client } of [floor, product]) if (missing > 0) await costOf(peer, client, missing, { ...SAID, concurrency: 16 });
  const turns = warmUp + perRound * effort.rounds + missing;
  const rows = await product.peer.rows();
  if (rows['turns'] !== turns) throw new Error(`${turns} turns were answered, and ${rows['turns']} are stored`);
  const memory = [
    compared('RSS MB idle', idle.product / MB, idle.floor / MB),
    compared(`RSS MB after ${turns} turns`, (await product.peer.usage()).rssBytes / MB, (await floor.peer.usage()).rssBytes / MB),
    compared(`cold start CPU ms (${AGENTS} agents)`, starts.product, starts.floor),
  ];
  return { compared: [...compare(rounds), ...memory], rounds, rows, turns };
}

const SAID = { content: 'Say it again, please.', expect: 'word3 ' } as const;
const MB = 1024 * 1024;

const compared = (figure: string, product: number, floor: number): Compared => {
  const ratio = product / floor;
  return { figure, product, floor, ratio, lowest: ratio, highest: ratio };
};

interface Measured extends AsyncDisposable {
  readonly peer: Peer;
  readonly client: Client;
}

async function startMeasured(name: 'floor' | 'product', model: Peer): Promise<Measured> {
  const home = await temporaryHome();
  const peer = await startPeer(name, { home: home.path, modelUrl: model.url, agents: AGENTS });
  const client = clientOf(peer.url);
  const close = async (): Promise<void> => {
    client.close();
    await peer.stop();
    await home[Symbol.asyncDispose]();
  };
  return { peer, client, [Symbol.asyncDispose]: close };
}

async function temporaryHome(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'oryxos-bench-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** CPU ms until a process can answer, over a home that an earlier start has made. */
async function coldStarts(count: number, model: Peer): Promise<Readonly<Record<'product' | 'floor', number>>> {
  const costOfStarts = async (name: 'product' | 'floor'): Promise<number> => {
    await using home = await temporaryHome();
    const costs: number[] = [];
    for (let start = 0; start <= count; start += 1) {
      await using peer = await startPeer(name, { home: home.path, modelUrl: model.url, agents: AGENTS });
      costs.push(peer.start.cpuMicros / 1000);
    }
    return median(costs.slice(1));
  };
  return { product: await costOfStarts('product'), floor: await costOfStarts('floor') };
}

async function profile(file: string): Promise<void> {
  await using model = await startPeer('model', {});
  await using product = await startMeasured('product', model);
  await costOf(product.peer, product.client, 1_000, { ...SAID, concurrency: 16 });
  const sessions = await product.client.open(3_000);
  await product.peer.profile();
  await product.client.turns(sessions, { ...SAID, concurrency: 16 });
  await product.peer.profile(file);
  for (const line of await selfTimes(file, sessions.length)) console.log(line);
}

function table(rows: readonly Compared[]): readonly string[] {
  const number = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
  return [
    '| figure | product | floor | ratio (lowest – highest) |',
    '|---|---|---|---|',
    ...rows.map(
      ({ figure, product, floor, ratio, lowest, highest }) =>
        `| ${figure} | ${number(product)} | ${number(floor)} | ${number(ratio)} (${number(lowest)} – ${number(highest)}) |`,
    ),
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'string' }, profile: { type: 'string' } },
  });
  if (values.profile !== undefined) return profile(resolve(values.profile));
  const chosen = values.quick === true ? QUICK : FULL;
  const effort = { ...chosen, rounds: Number(values.rounds ?? chosen.rounds) };
  const before = loadavg()[0] ?? 0;
  const report = await bench(effort, (line) => console.error(line));
  const [cpu] = cpus();
  console.log(
    `Node ${process.versions.node}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, load ${before.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after, ${effort.rounds} rounds`,
  );
  for (const line of table(report.compared)) console.log(line);
  if (values.json !== undefined) await writeFile(values.json, JSON.stringify(report, null, 2));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
