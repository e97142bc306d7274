/** What the tests of schedules share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentFile, type FakeClock, type HostOptions, startHost, type TestHost, until } from '../../harness/index.ts';

/** How long a test of schedules may take: machines that are busy with other things are slow. */
export const TEST_MS = 120_000;

/** Epoch milliseconds of 2026-11-30T12:00:00Z. */
export const NOON = Date.UTC(2026, 10, 30, 12);

// oxlint-disable-next-line typescript/no-explicit-any -- views of every shape
export type View = any;

/** An AGENT.md with schedules; each entry is a YAML flow map without braces. */
export function scheduled(name: string, ...entries: readonly string[]): string {
  const list = entries.map((entry) => `  - {${entry}}`).join('\n');
  return agentFile(name, entries.length === 0 ? 'tools: []' : `tools: []\nschedules:\n${list}`);
}

/** A host with an agent `w1` that has the schedules. */
export function hostWith(clock: FakeClock, entries: readonly string[], more: HostOptions = {}): Promise<TestHost> {
  return startHost({ clock, agents: { w1: scheduled('w1', ...entries) }, ...more });
}

/** All schedules. */
export const schedules = async (host: TestHost): Promise<readonly View[]> => (await host.request('GET', '/api/v2/schedules')).data;
/** The only schedule. */
export const only = async (host: TestHost): Promise<View> => (await schedules(host))[0];
/** What became of the slots, newest first. */
export const executions = async (host: TestHost, id: string): Promise<readonly View[]> =>
  (await host.request('GET', `/api/v2/schedules/${id}/executions`)).data;

/** Polls until the condition gives something truthy, for as long as a busy machine may take. */
export const eventually = <T>(what: string, condition: () => T | Promise<T>): Promise<NonNullable<T>> =>
  until(what, condition, TEST_MS / 2);

/** Waits until there are that many rows and none of them runs. */
export function settled(host: TestHost, id: string, count: number): Promise<readonly View[]> {
  return eventually(`${count} rows that have ended`, async () => {
    const rows = await executions(host, id);
    return rows.length >= count && rows.every(({ status }) => status !== 'running') ? rows : undefined;
  });
}

/** Waits for the newest row to pass the test. */
export function newest(host: TestHost, id: string, what: string, test: (row: View) => boolean): Promise<View> {
  return eventually(what, async () => {
    const [row] = await executions(host, id);
    return row !== undefined && test(row) ? row : undefined;
  });
}

/** A promise and what resolves it. */
export function door(): { readonly closed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open: () => open() };
}

/** A workspace that outlives its hosts; removed at the end. */
export interface Workspace extends AsyncDisposable {
  /** Starts a host on it; `w1` then has exactly these schedules. */
  host(clock: FakeClock, entries: readonly string[], more?: HostOptions): Promise<TestHost>;
}

/** Makes one. */
export async function workspace(): Promise<Workspace> {
  const home = await mkdtemp(join(tmpdir(), 'oryxos-test-'));
  return {
    host: (clock, entries, more) => startHost({ clock, home, files: { 'agents/w1/AGENT.md': scheduled('w1', ...entries) }, ...more }),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}
