/** What is measured of one server, and how figures of several rounds become one. */
import type { Peer } from './peer.ts';
import { type Client, type TurnOptions } from './load.ts';

/** How much is done in one round. */
export interface Effort {
  readonly rounds: number;
  /** Turns of one measurement by concurrency. */
  readonly turns: Readonly<Record<'c1' | 'c16' | 'c64', number>>;
  readonly longStreams: number;
  readonly shortStreams: number;
  readonly coldStarts: number;
  /** Turns after which memory is read again. */
  readonly totalTurns: number;
}

/** Everything measured of one server in one round, by name of the figure. */
export type Figures = Readonly<Record<string, number>>;

const LONG = 2_000;
const TURN = { content: 'Say it again, please.', expect: 'word3 ' } as const;

/** Measures once: CPU and rate of turns, CPU of a token, time to the first token. The rest of the machine should be idle. */
export async function measure(peer: Peer, client: Client, { turns, longStreams, shortStreams }: Effort): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const [name, count] of Object.entries(turns)) {
    const cost = await costOf(peer, client, count, { ...TURN, concurrency: Number(name.slice(1)) });
    figures[`${name} CPU ms/turn`] = cost.cpuMs;
    figures[`${name} turns/s`] = cost.perSecond;
  }
  for (const [name, pace] of [
    ['in bulk', ''],
    ['one by one', ' one by one'],
  ] as const) {
    const content = `[[say ${LONG}${pace}]]`;
    const cost = await costOf(peer, client, longStreams, { content, expect: 'event: done', stream: true, concurrency: 1 });
    figures[`CPU µs/token, ${name}`] = (cost.cpuMs * 1000) / LONG;
  }
  const sessions = await client.open(shortStreams);
  const streams = await client.turns(sessions, { content: '[[say 20]]', expect: 'event: done', stream: true, concurrency: 1 });
  figures['TTFT ms'] = median(streams.map(({ firstTokenMs = Number.NaN }) => firstTokenMs));
  return figures;
}

/** What a turn costs, sessions opened before the clock starts. */
export async function costOf(
  peer: Peer,
  client: Client,
  count: number,
  options: TurnOptions,
): Promise<{ readonly cpuMs: number; readonly perSecond: number }> {
  const sessions = await client.open(count);
  const before = await peer.usage();
  const since = performance.now();
  await client.turns(sessions, options);
  const elapsedMs = performance.now() - since;
  const after = await peer.usage();
  return { cpuMs: (after.cpuMicros - before.cpuMicros) / 1000 / count, perSecond: (count * 1000) / elapsedMs };
}

/** The middle of the values; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? (sorted[Math.floor(middle)] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** One line of a report: medians, and the ratio of each round with its median and extremes. */
export interface Compared {
  readonly figure: string;
  readonly product: number;
  readonly floor: number;
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Compares rounds pairwise: the product of a round with the floor of the same round. */
export function compare(rounds: readonly { readonly product: Figures; readonly floor: Figures }[]): readonly Compared[] {
  const names = Object.keys(rounds[0]?.product ?? {});
  return names.map((figure) => {
    const of = (peer: 'product' | 'floor'): readonly number[] => rounds.map((round) => round[peer][figure] ?? Number.NaN);
    const ratios = rounds.map(({ product, floor }) => (product[figure] ?? Number.NaN) / (floor[figure] ?? Number.NaN));
    return {
      figure,
      product: median(of('product')),
      floor: median(of('floor')),
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
    };
  });
}
