import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openStore, temporaryRoot } from './open-store.ts';
import { rejection } from '../../contract/store.ts';

const KILLS = 10;
const KILL_WITHIN_MS = 60;

/** Runs the script beside this test as a process of its own, from sources or built. */
function start(script: string, ...args: readonly string[]): ChildProcess {
  const ending = extname(import.meta.url);
  const file = fileURLToPath(new URL(`./${script}${ending}`, import.meta.url));
  const loader = ending === '.ts' ? ['--import', import.meta.resolve('tsx')] : [];
  return spawn(process.execPath, [...loader, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Kills the process at a random moment after its first acknowledgement and gives the numbers that it had printed. */
async function acknowledgedUntilKilled(child: ChildProcess): Promise<readonly number[]> {
  if (child.stdout === null) throw new Error('the process has no output');
  const numbers: number[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (numbers.length === 0) setTimeout(() => child.kill('SIGKILL'), Math.random() * KILL_WITHIN_MS);
    numbers.push(Number(line));
  });
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return numbers;
}

describe('store when a commit cannot be written', () => {
  it('acknowledges nothing of the group, keeps answering, and goes on afterwards', async function () {
    this.timeout(30_000);
    if (spawnSync('prlimit', ['--version']).error) this.skip();
    const { root, remove } = await temporaryRoot();
    const child = start('limited-process', root);
    if (child.stdout === null) throw new Error('the process has no output');
    const { during, after } = JSON.parse(await text(child.stdout)) as Record<'during' | 'after', Readonly<Record<string, unknown>>>;
    await remove();
    const code = 'ORYX_STORE_UNAVAILABLE';
    expect(during).to.deep.include({ codes: [code, code, code], ids: [1] });
    expect(during['problem']).to.include('not available');
    expect(after).to.deep.equal({ ids: [1, 5], problem: null, check: { integrity_check: 'ok' } });
  });
});

describe('store under kill -9', () => {
  let root: string;
  let remove: () => Promise<void>;
  beforeEach(async () => void ({ root, remove } = await temporaryRoot()));
  afterEach(() => remove());

  it('keeps every acknowledged list and no half one', async function () {
    this.timeout(120_000);
    const acknowledged: number[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      acknowledged.push(...(await acknowledgedUntilKilled(start('writer-process', root, String(round * 1_000_000)))));
    }
    const host = await openStore(root);
    const rows = await host.store.all<{ pair: number; halves: number }>('SELECT pair, count(*) AS halves FROM halves GROUP BY pair');
    const check = await host.store.get('PRAGMA integrity_check');
    await host.close();

    expect(acknowledged.length).to.be.greaterThan(KILLS);
    expect(rows.filter(({ halves }) => halves !== 2)).to.deep.equal([]);
    const stored = new Set(rows.map(({ pair }) => pair));
    expect(acknowledged.filter((pair) => !stored.has(pair))).to.deep.equal([]);
    expect(check).to.deep.equal({ integrity_check: 'ok' });
  });

  it('keeps others out while the owner lives, and lets them in once it is dead', async function () {
    this.timeout(30_000);
    const child = start('writer-process', root);
    if (child.stdout === null) throw new Error('the process has no output');
    await once(child.stdout, 'data');
    expect(await rejection(openStore(root))).to.have.property('code', 'ORYX_WORKSPACE_BUSY');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await openStore(root)).close();
  });
});
