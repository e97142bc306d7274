import { expect } from 'chai';
import fs from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKernel, type Disposer, type KernelHost, type LogLine, systemClock } from '../../../kernel/index.ts';
import type { WatchRequest } from '../../../plugins/watch/contract.ts';
import watch from '../../../plugins/watch/index.ts';
import { fakeClock, until } from '../../harness/index.ts';

describe('the watch', () => {
  let root: string;
  let kernel: KernelHost;
  let hints: string[];
  let comparisons: number;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-watch-')));
    hints = [];
    comparisons = 0;
  });
  afterEach(async () => {
    await kernel.close();
    await rm(root, { recursive: true, force: true });
  });

  async function load(config: Record<string, unknown> = {}, clock = systemClock()): Promise<void> {
    kernel = createKernel({ clock });
    expect((await kernel.load(watch, config)).state).to.equal('active');
  }
  function start(request: Partial<WatchRequest> = {}): Promise<Disposer> {
    return kernel.service('watch').watch({
      directory: root,
      depth: 1,
      matches: (path, isDirectory) => isDirectory || path.endsWith('note.md'),
      onHint: (path) => hints.push(path),
      onReconcile: () => {
        comparisons += 1;
      },
      ...request,
    });
  }
  const hinted = (path: string) => until(`a hint about ${path}`, () => hints.includes(path));
  async function write(path: string, text: string): Promise<void> {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }

  it('hints at single files of a directory that appear, change, are replaced and go, and at no others', async () => {
    await write('other.md', 'x');
    await load();
    const stop = await start({ depth: 0 });
    const replace = async (): Promise<void> => {
      await write('other.tmp', '333');
      await rename(join(root, 'other.tmp'), join(root, 'note.md'));
    };
    for (const change of [() => write('note.md', '1'), () => write('note.md', '22'), replace, () => rm(join(root, 'note.md'))]) {
      hints.length = 0;
      await write('other.md', 'y');
      await change();
      await hinted('note.md');
    }
    expect(new Set(hints)).to.deep.equal(new Set(['note.md']));
    await stop();
    hints.length = 0;
    const heardByAnother: string[] = [];
    await start({ depth: 0, onHint: (path) => heardByAnother.push(path) });
    await write('note.md', 'after the end');
    await until('a hint to another listener', () => heardByAnother.includes('note.md'));
    expect(hints).to.deep.equal([]);
  });

  it('hints at single files through a link to another one', async () => {
    await write('one.txt', '1');
    await write('two.txt', '2');
    await symlink(join(root, 'one.txt'), join(root, 'note.md'));
    await load();
    await start({ depth: 0 });
    await symlink(join(root, 'two.txt'), join(root, 'next'));
    await rename(join(root, 'next'), join(root, 'note.md'));
    await hinted('note.md');
  });

  it('hints at a file that appears, changes and goes, well under 100 ms later', async () => {
    await write('a/other.md', 'x');
    await load();
    await start();
    for (const change of [() => write('a/note.md', '1'), () => write('a/note.md', '22'), () => rm(join(root, 'a/note.md'))]) {
      hints.length = 0;
      await change();
      await hinted('a/note.md');
    }
    const delays: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      hints.length = 0;
      const began = performance.now();
      await write('a/note.md', `text ${round}`);
      await hinted('a/note.md');
      delays.push(performance.now() - began);
    }
    expect(Math.min(...delays)).to.be.below(100);
  });

  it('hints at a directory that appears and at the files that come with it', async () => {
    await load();
    await start();
    await write('b/note.md', '1');
    await hinted('b');
    await hinted('b/note.md');
    await rm(join(root, 'b'), { recursive: true });
    await until('a hint that it has gone', () => hints.filter((path) => path === 'b').length > 1);
  });

  it('does not hint at what does not match, lies deeper, or is behind a link', async () => {
    await mkdir(join(root, 'a'), { recursive: true });
    const outside = await mkdtemp(join(tmpdir(), 'oryxos-outside-'));
    await symlink(outside, join(root, 'a', 'linked'));
    await load();
    await start({ depth: 1 });
    await write('a/other.md', '1');
    await write('a/deep/note.md', '1');
    await writeFile(join(outside, 'note.md'), '1');
    await write('a/note.md', '1');
    await hinted('a/note.md');
    await rm(outside, { recursive: true });
    expect(hints.filter((path) => !['a/note.md', 'a/deep', 'a/linked'].includes(path))).to.deep.equal([]);
  });

  it('creates a directory that is missing', async () => {
    await load();
    await start({ directory: join(root, 'made/here') });
    await write('made/here/note.md', '1');
    await hinted('note.md');
  });

  it('sees an atomic save as the change of one file', async () => {
    await write('a/note.md', 'old');
    await load();
    await start();
    for (let round = 0; round < 20; round += 1) {
      hints.length = 0;
      await writeFile(join(root, 'a/.note.tmp'), `text ${round}`);
      await rename(join(root, 'a/.note.tmp'), join(root, 'a/note.md'));
      await hinted('a/note.md');
    }
    expect(new Set(hints)).to.deep.equal(new Set(['a/note.md']));
  });

  it('hints after the last of many changes, however close they are', async () => {
    await write('a/note.md', 'old');
    await load();
    let seen = '';
    await start({ onHint: () => (seen = fs.readFileSync(join(root, 'a/note.md'), 'utf8')) });
    for (let round = 0; round < 50; round += 1) {
      await writeFile(join(root, 'a/note.md'), `text ${round}`);
      await until(`the text of write ${round}`, () => seen === `text ${round}`, 1_000);
    }
  });

  it('asks for a comparison every 30 s of the clock', async () => {
    const clock = fakeClock();
    await load({}, clock);
    await start();
    await clock.tick(29_999);
    expect(comparisons).to.equal(0);
    await clock.tick(60_001);
    await until('three comparisons', () => comparisons === 3);
  });

  it('asks for a comparison as often as it is configured', async () => {
    const clock = fakeClock();
    await load({ reconcileSeconds: 5 }, clock);
    await start();
    await clock.tick(5_000);
    await until('a comparison', () => comparisons === 1);
  });

  it('watches anew when another directory has come in the place of the watched one', async () => {
    const clock = fakeClock();
    await load({}, clock);
    const directory = join(root, 'agents');
    await start({ directory });
    await rename(directory, join(root, 'moved'));
    await mkdir(directory);
    await clock.tick(30_000);
    await until('the comparison', () => comparisons > 0);
    hints.length = 0;
    await writeFile(join(directory, 'note.md'), '1');
    await hinted('note.md');
  });

  it('watches anew when the watched directory was removed and came back', async () => {
    const clock = fakeClock();
    await load({}, clock);
    const directory = join(root, 'agents');
    await start({ directory });
    await rm(directory, { recursive: true });
    await clock.tick(30_000);
    await mkdir(directory);
    await clock.tick(30_000);
    await until('the comparisons', () => comparisons === 2);
    hints.length = 0;
    await writeFile(join(directory, 'note.md'), '1');
    await hinted('note.md');
  });

  it('goes on with a directory that is replaced again and again', async () => {
    await load();
    await start();
    for (let round = 0; round < 10; round += 1) {
      await rm(join(root, 'b'), { recursive: true, force: true });
      await write('b/note.md', 'first');
    }
    let edits = 0;
    await until('a hint about an edit', async () => {
      hints.length = 0;
      await writeFile(join(root, 'b/note.md'), `edit ${(edits += 1)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return hints.includes('b/note.md');
    });
  });

  it('says once that the system allows no more watchers, compares instead, and goes on', async () => {
    const clock = fakeClock();
    const lines: LogLine[] = [];
    const { watch: original } = fs;
    await write('a/note.md', '1');
    await write('b/note.md', '1');
    await load({}, clock);
    await kernel.load({
      name: 'sink',
      requires: [],
      setup: (ctx) => void ctx.register('logSink', { name: 'sink', write: (line) => lines.push(line) }),
    });
    try {
      fs.watch = () => {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      };
      syncBuiltinESMExports();
      await start();
    } finally {
      fs.watch = original;
      syncBuiltinESMExports();
    }
    await clock.tick(1_000);
    expect(comparisons).to.equal(1);
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings).to.have.length(1);
    expect(warnings[0]?.message).to.include('watch.polling');
  });

  it('works without events of the system when polling is on', async () => {
    await write('a/note.md', 'old');
    await load({ polling: true });
    await start();
    await write('a/note.md', 'new text');
    await hinted('a/note.md');
  });

  it('does nothing at all when it is switched off', async () => {
    const clock = fakeClock();
    await load({ enabled: false }, clock);
    await start();
    await write('note.md', '1');
    await clock.tick(60_000);
    expect([hints, comparisons, clock.pending]).to.deep.equal([[], 0, 0]);
  });

  it('ends with its undo, and with the plugin', async () => {
    const clock = fakeClock();
    await load({}, clock);
    const undo = await start();
    await undo();
    await undo();
    await start();
    await kernel.unload('watch');
    await write('note.md', '1');
    await clock.tick(60_000);
    expect([hints, comparisons, clock.pending]).to.deep.equal([[], 0, 0]);
  });

  it('takes its settings while it runs, for what is watched already', async () => {
    const clock = fakeClock();
    await load({}, clock);
    const stop = await start();
    const settings = async (config: Record<string, unknown>): Promise<void> => {
      expect(await kernel.replace(watch, config)).to.include({ state: 'active', generation: 1 });
    };
    await settings({ reconcileSeconds: 1 });
    expect(comparisons).to.equal(1);
    await clock.tick(1_000);
    await until('a comparison', () => comparisons === 2);
    await settings({ enabled: false });
    await clock.tick(60_000);
    await write('note.md', 'unseen');
    expect([comparisons, hints]).to.deep.equal([2, []]);
    await settings({});
    expect(comparisons).to.equal(3);
    hints.length = 0;
    await write('note.md', 'seen');
    await hinted('note.md');
    await stop();
    await settings({ enabled: false });
    await settings({});
    expect(comparisons).to.equal(3);
    expect(
      kernel
        .status()
        .find(({ name }) => name === 'watch')
        ?.effects.children.map(({ label }) => label),
    ).to.deep.equal(['service watch']);
  });
});
