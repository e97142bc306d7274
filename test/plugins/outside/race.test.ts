import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openByDescriptor } from '../../../plugins/outside/open-directory.ts';
import type { WalkedFile } from '../../../plugins/outside/contract.ts';
import { SECRET, bench } from './bench.ts';

const LOOP_MS = 2_000;

describe('files while another process swaps them for links', () => {
  it('never read or write through a link that was swapped in', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(LOOP_MS + 15_000);
    await using b = await bench({ openDirectory: openByDescriptor });
    await mkdir(join(b.outside, 'deep'));
    await writeFile(join(b.outside, 'deep/secret.txt'), SECRET);
    await writeFile(join(b.outside, 'deep/mark'), '');
    const swapper = await swapping(b.allowed, b.outside);
    const seen = { inside: 0, refused: 0, leaked: 0, written: 0 };
    const end = performance.now() + LOOP_MS;
    const read = async (path: string): Promise<void> => {
      while (performance.now() < end) {
        const text = await b.text(join(b.allowed, path)).catch(() => undefined);
        if (text === undefined) seen.refused += 1;
        if (text === 'in') seen.inside += 1;
        if (text?.includes(SECRET)) seen.leaked += 1;
      }
    };
    const write = async (): Promise<void> => {
      while (performance.now() < end) {
        const done = await b.write(join(b.allowed, 'sub/deep/new/pwn.txt'), 'PWN').then(
          () => true,
          () => false,
        );
        if (done) seen.written += 1;
      }
    };
    const list = async (): Promise<void> => {
      while (performance.now() < end) {
        const { entries } = await b.files
          .list(join(b.allowed, 'sub/deep'), b.run(), { max: 99 })
          .catch(() => ({ entries: [] as readonly { readonly name: string }[] }));
        if (entries.some(({ name }) => name === 'mark')) seen.leaked += 1;
      }
    };
    try {
      await Promise.all([read('race'), read('race'), read('sub/secret.txt'), read('sub/deep/secret.txt'), write(), write(), list()]);
    } finally {
      const exited = once(swapper, 'exit');
      expect(swapper.kill('SIGKILL'), 'the swapper was still at work').to.equal(true);
      await exited;
    }
    expect(seen.leaked).to.equal(0);
    expect((await readdir(b.outside, { recursive: true })).sort()).to.deep.equal(['deep', 'deep/mark', 'deep/secret.txt', 'secret.txt']);
    expect(await readFile(join(b.outside, 'secret.txt'), 'utf8')).to.equal(SECRET);
    // The loop was a race, not a wall: each outcome happened.
    expect(seen.inside, 'reads inside').to.be.greaterThan(0);
    expect(seen.refused, 'reads refused').to.be.greaterThan(0);
    expect(seen.written, 'writes inside').to.be.greaterThan(0);
  });

  it('are moved, copied, deleted, added to and walked through inside only', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(LOOP_MS + 15_000);
    await using b = await bench({ openDirectory: openByDescriptor });
    await mkdir(join(b.outside, 'deep'));
    for (const name of ['deep/secret.txt', 'mine']) await writeFile(join(b.outside, name), SECRET);
    const before = (await readdir(b.outside, { recursive: true })).sort();
    const swapper = await swapping(b.allowed, b.outside);
    const done: Record<string, number> = {};
    const end = performance.now() + LOOP_MS;
    let leaked = 0;
    const repeat = async (name: string, work: (number: number) => Promise<unknown>): Promise<void> => {
      for (let number = 0; performance.now() < end; number += 1) {
        const worked = await work(number).then(
          () => true,
          () => false,
        );
        if (worked) done[name] = (done[name] ?? 0) + 1;
      }
    };
    const sub = (name: string): string => join(b.allowed, 'sub', name);
    const home = (name: string): string => join(b.home, name);
    const content = Buffer.from('x');
    const look = async (file: WalkedFile): Promise<boolean> => {
      if (Buffer.from(await file.read(99)).includes(SECRET)) leaked += 1;
      return true;
    };
    try {
      await Promise.all([
        repeat('remove', () => b.files.remove(sub('deep/secret.txt'), b.run())),
        repeat('move in', async (number) => {
          await b.files.write(home(`m${number}`), content, b.run());
          await b.files.move(home(`m${number}`), sub(`new/m${number}`), b.run());
        }),
        repeat('move out', (number) => b.files.move(sub('secret.txt'), home(`got${number % 5}`), b.run())),
        repeat('copy in', (number) => b.files.copy(join(b.allowed, 'ok.txt'), sub(`deep/c${number}`), b.run())),
        repeat('copy out', (number) => b.files.copy(sub('secret.txt'), home(`copy${number % 5}`), b.run())),
        repeat('append', () => b.files.append(sub('deep/log'), content, b.run())),
        repeat('update', () => b.files.update(sub('secret.txt'), b.run(), { maxBytes: 99 }, () => content)),
        repeat('make', (number) => b.files.makeDirectory(sub(`d${number}`), b.run())),
        repeat('walk', () => b.files.walk(join(b.allowed, 'sub'), b.run(), { enters: () => true, wants: () => true, visit: look })),
      ]);
    } finally {
      const exited = once(swapper, 'exit');
      expect(swapper.kill('SIGKILL'), 'the swapper was still at work').to.equal(true);
      await exited;
    }
    expect(leaked).to.equal(0);
    expect((await readdir(b.outside, { recursive: true })).sort()).to.deep.equal(before);
    for (const name of before.filter((each) => each !== 'deep')) expect(await readFile(join(b.outside, name), 'utf8')).to.equal(SECRET);
    for (const name of await readdir(b.home)) expect(await readFile(home(name), 'utf8')).to.not.include(SECRET);
    for (const name of ['move in', 'copy in', 'append', 'walk']) expect(done[name], name).to.be.greaterThan(0);
  });
});

async function swapping(allowed: string, outside: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, swapperName()), allowed, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** The tests run from the source and from the built tree. */
const swapperName = (): string => (import.meta.filename.endsWith('.ts') ? 'swapper.ts' : 'swapper.js');
