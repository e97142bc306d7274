/** Switches each guard off in turn, in a copy of the package, and expects that the ordinary tests notice. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';
import { isBuilt, nodeArguments } from '../examples/installed-oryxos.ts';
import { mutations, type Mutation, type Patch } from './mutations.ts';

/** Copies that are tested side by side. */
const COPIES = 2;
/** Some guards keep a process from being held up for ever; its tests have failed by then. */
const CHILD_MS = 90_000;
const CONTROL_MS = 20 * 60_000;
const SOURCES = ['kernel', 'plugins', 'adapters', 'config', 'test'];
const COPIED = [...(isBuilt ? ['dist', 'config'] : SOURCES), 'workspace-template', 'package.json'];

/** How a run of test files ended. */
interface Ran {
  readonly passes: number;
  readonly failures: readonly string[];
}

describe('with a guard switched off', function () {
  this.timeout(60 * 60_000);
  const titles = new Set<string>();
  const ended = new Map<Mutation, Promise<Ran>>();
  let control: Promise<readonly Ran[]> = Promise.resolve([]);
  let scratch = '';

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'oryxos-mutations-'));
    const lanes = await Promise.all(Array.from({ length: COPIES }, (_, number) => copied(join(scratch, `copy${number}`))));
    const free = createFree(lanes);
    const files = [...new Set(mutations.flatMap(({ caughtBy }) => caughtBy))].sort();
    const halves = lanes.map((_, number) => files.filter((_file, index) => index % lanes.length === number));
    control = Promise.all(halves.map((half) => free((copy) => testsIn(copy, half, false))));
    for (const mutation of mutations)
      ended.set(
        mutation,
        free((copy) => mutated(copy, mutation)),
      );
    for (const each of [control, ...ended.values()]) each.catch(() => undefined);
  });
  after(async () => {
    await Promise.allSettled([control, ...ended.values()]);
    await rm(scratch, { recursive: true, force: true });
  });

  it('no other way: the same tests pass with every guard in place', async () => {
    expect((await control).flatMap(({ failures }) => failures)).to.deep.equal([]);
  });

  for (const mutation of mutations) {
    const title = `a test fails: ${mutation.guard} (${mutation.patches[0]?.file})`;
    it(title, async () => {
      expect(titles.has(title), 'two guards of one name').to.equal(false);
      titles.add(title);
      const { failures } = (await ended.get(mutation)) ?? { failures: [] };
      expect(failures, `tests of ${mutation.caughtBy.join(', ')} that failed`).to.not.deep.equal([]);
      console.log(`      caught: ${failures[0]?.split('\n', 1)[0]}`);
    });
  }
});

/** Lends copies to as many jobs as there are copies; the others wait in order. */
function createFree(lanes: readonly string[]): <T>(job: (copy: string) => Promise<T>) => Promise<T> {
  const idle = [...lanes];
  const waiting: ((copy: string) => void)[] = [];
  const take = (): Promise<string> => {
    const copy = idle.shift();
    return copy === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(copy);
  };
  return async (job) => {
    const copy = await take();
    try {
      return await job(copy);
    } finally {
      const next = waiting.shift();
      if (next) next(copy);
      else idle.push(copy);
    }
  };
}

async function copied(copy: string): Promise<string> {
  for (const name of COPIED) {
    await cp(join(packageRoot, name), join(copy, name), { recursive: true, filter: (path) => !/\.(map|d\.ts)$/.test(path) });
  }
  await symlink(join(packageRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs the tests of one mutation in a copy, which is as before afterwards. */
async function mutated(copy: string, { patches, caughtBy }: Mutation): Promise<Ran> {
  const before = new Map<string, string>();
  try {
    for (const patch of patches) {
      const path = join(copy, builtName(patch.file));
      const text = await readFile(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      await writeFile(path, patched(text, patch));
    }
    return await testsIn(copy, caughtBy, true);
  } finally {
    for (const [path, text] of before) await writeFile(path, text);
  }
}

/** Throws unless the text stands there exactly once: a guard that has moved must be looked for, not passed over. */
function patched(text: string, { file, find, replace }: Patch): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what was to be replaced once: ${find}`);
  return parts.join(replace);
}

const builtName = (file: string): string => (isBuilt ? join('dist', file.replace(/\.ts$/, '.js')) : file);

/** Runs test files in a process of their own. Throws when they could not be run at all: a change that does not load proves nothing. */
async function testsIn(copy: string, files: readonly string[], bail: boolean): Promise<Ran> {
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const mocha = join(packageRoot, 'node_modules/mocha/bin/mocha.js');
  const options = [
    '--timeout',
    '30000',
    '--exit',
    '--reporter',
    'json',
    '--reporter-option',
    `output=${report}`,
    ...(bail ? ['--bail'] : []),
  ];
  const child = spawn(process.execPath, [...nodeArguments, mocha, ...options, ...files.map(builtName)], {
    cwd: copy,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: bail ? CHILD_MS : CONTROL_MS,
    killSignal: 'SIGKILL',
  });
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told = (told + chunk.toString()).slice(-2_000)));
  await once(child, 'close');
  if (!existsSync(report)) throw new Error(`the tests could not be run: ${told}`);
  const { stats, failures } = JSON.parse(await readFile(report, 'utf8')) as {
    readonly stats: { readonly passes: number };
    readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string; readonly stack?: string } }[];
  };
  const broken = failures.find(({ err }) => /^(ReferenceError|SyntaxError)/.test(err.stack ?? ''));
  if (broken) throw new Error(`the change is none that can be run: ${broken.err.stack}`);
  return { passes: stats.passes, failures: failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`) };
}
