/** Words of the area FILE. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AttackInput } from './corpus.ts';
import { CannotRun, Unsupported, listOf } from './corpus.ts';
import type { AreaWords } from './case-runner.ts';
import type { Scene } from './expectations.ts';
import type { Act } from './inputs.ts';
import type { Observation } from './observation.ts';

const when = (wrong: boolean, problem: string): readonly string[] => (wrong ? [problem] : []);

/** A small file system of its own in place of a directory, with what was in it. */
async function smallDisk(value: unknown): Promise<() => Promise<void>> {
  const { path, bytes } = value as { readonly path: string; readonly bytes: number };
  const kept = readdirSync(path).map((name) => [name, readFileSync(join(path, name))] as const);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    throw new CannotRun('a small disk cannot be mounted without the right to mount');
  }
  for (const [name, content] of kept) writeFileSync(join(path, name), content);
  return async () => void execFileSync('umount', ['-l', path]);
}

/** Calls a tool over and over while another process swaps what it works on. */
const race: Act = async (input, stage, act) => {
  const { loop_ms: loopMs, swapper, call, parallel, recreate } = stage.fill(input) as unknown as Race;
  const [, path = '', kind = ''] = /^alternate (\S+) between (regular file|directory) /.exec(swapper) ?? [];
  const target = /symlink -> (\S+)/.exec(swapper)?.[1];
  if (path === '' || target === undefined) throw new Unsupported(`swapper "${swapper}"`);
  const process = await swapping(kind, path, target);
  const end = performance.now() + loopMs;
  const observed: Observation[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      for (const file of listOf(recreate)) recreated(file);
      observed.push(...(await act(call)));
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, worker));
    if (process.exitCode !== null) throw new Error('the swapper ended by itself');
  } finally {
    const exited = once(process, 'exit');
    if (process.kill('SIGKILL')) await exited;
  }
  return observed;
};

interface Race {
  readonly loop_ms: number;
  readonly swapper: string;
  readonly call: AttackInput;
  readonly parallel: number;
  readonly recreate?: readonly string[];
}

/** Whoever swaps may be quicker; a parent that is a link at the moment is left alone. */
function recreated(path: string): void {
  try {
    const real = execFileSync('readlink', ['-f', dirname(path)], { encoding: 'utf8' }).trim();
    if (real === dirname(path)) writeFileSync(join(real, basename(path)), 'in', { flag: 'wx' });
  } catch {
    // The next round tries again.
  }
}

async function swapping(kind: string, path: string, target: string): Promise<ChildProcess> {
  const file = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? 'attack-swapper.ts' : 'attack-swapper.js');
  const child = spawn(process.execPath, [...process.execArgv, file, kind, path, target], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

const noDirectory = ({ stage }: Scene): readonly string[] => [
  ...when(
    readdirSync(join(stage.host.root, 'agents')).some((name) => !['a1', 'a2', 'default'].includes(name)),
    'an agent was created',
  ),
  ...when(readdirSync(stage.host.root).includes('evil'), 'a directory was created outside of agents/'),
];

/** What the FILE cases need beside the common words. */
export const fileWords: AreaWords = {
  setups: {
    quota: smallDisk,
    // The only server of these cases must never be asked: the refusal comes first, and a request would end with an unknown name.
    http: async () => async () => undefined,
  },
  inputs: { race },
  invariants: {
    'no directory created outside agents/, none created at all': noDirectory,
    'session history stays valid UTF-8 JSON': async ({ stage }) => {
      await stage.host.request('POST', '/api/v1/sessions', { profile: 'a1', userId: 'u' });
      stage.host.model.willCall('read_file', { path: join(stage.meanings['A'] ?? '', 'b.bin') });
      await stage.host.tell('web:u:a1', 'a1', 'again');
      const { status, text } = await stage.host.request('GET', '/api/v1/sessions/web:u:a1');
      return when(status !== 200 || text.includes('\ufffd') || /\\ud[89a-f]/i.test(text), 'the history is not clean');
    },
    'exactly 50 whole lines, each once': ({ stage }) => {
      const lines = readFileSync(join(stage.meanings['A'] ?? '', 'log.txt'), 'utf8').split('\n');
      const wanted = Array.from({ length: 50 }, (_, index) => `line-${index}`);
      return when(lines.sort().join() !== ['', ...wanted].sort().join(), `the lines are ${lines.join()}`);
    },
    'no temp file left': ({ stage }) => {
      const names = readdirSync(stage.meanings['A'] ?? '');
      return when(
        names.some((name) => name.includes('.tmp')),
        `there are ${names.join()}`,
      );
    },
    'result says how many bytes the file has and that it was cut': ({ observations }) =>
      when(!observations.every(({ text }) => text.includes('21474836480') && /\bcut\b/.test(text)), 'the result does not say so'),
    'no result over the whole loop contains $SECRET': ({ observations, stage }) =>
      when(
        observations.some(({ text }) => text.includes(stage.meanings['SECRET'] ?? '?')),
        'the secret leaked',
      ),
    // Every case ends with a look at the health of the server.
    'server healthy': ({ observations }) => [
      ...when(!observations.some(({ outcome }) => outcome === 'allow'), 'no call succeeded, so nothing was raced'),
      ...when(!observations.some(({ outcome }) => outcome !== 'allow'), 'no call met a link, so nothing was raced'),
    ],
    'effective tools of a1 unchanged': ({ stage }) => {
      const tools = stage.host.kernel.registry('profile').get('a1')?.tools.join();
      return when(tools !== 'write_file', `the tools are ${tools}`);
    },
  },
};
