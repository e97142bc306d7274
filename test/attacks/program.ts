/** The program as an operator starts it, on a workspace of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, nodeArguments } from '../examples/installed-oryxos.ts';
import { agentFile } from '../harness/index.ts';
import { until } from '../harness/until.ts';

/** A directory with a workspace in it and a directory that tools may use. */
export interface Home extends AsyncDisposable {
  readonly home: string;
  readonly root: string;
  readonly allowed: string;
}

/** What a program is started with. */
export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A command that is put before the program, e.g. ["unshare", "-r"]; it must become the program (exec). */
  readonly through?: readonly string[];
  readonly args?: readonly string[];
}

/** A program that listens. */
export interface Program extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it has printed. */
  output(): string;
  /** Resolves with its exit code, null when a signal ended it. */
  readonly gone: Promise<number | null>;
  stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** How a program ended that never listened. */
export interface Refusal {
  readonly code: number | null;
  readonly output: string;
}

/** Agent `a1` with the given tools and everything in the configuration that a case names. */
export async function makeHome(
  modelUrl: string,
  tools: readonly string[],
  config: Readonly<Record<string, unknown>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Home> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'oryxos-attack-')));
  const [root, allowed] = [join(home, 'workspace'), join(home, 'allowed')];
  await mkdir(allowed);
  const settings = {
    server: { port: 0 },
    oryxos: { providers: [{ name: 'scripted', 'base-url': modelUrl }] },
    file: { allowed_paths: [allowed] },
    shell: { allowed_commands: ['sleep'], isolation: 'none', timeout_seconds: 600 },
    logging: { level: 'warn', format: 'json' },
    ...config,
  };
  const all = {
    'application.yml': JSON.stringify(settings),
    'agents/default/AGENT.md': agentFile('default'),
    'agents/a1/AGENT.md': agentFile('a1', `tools: ${JSON.stringify(tools)}\nsettings: {on_fatal_tool_error: feedback}`),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { home, root, allowed, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

/** Starts `oryxos serve`. Throws an Error with what it printed when it ends before it listens. */
export async function startProgram(home: Home, options: ProgramOptions = {}): Promise<Program> {
  const started = spawned(home, options);
  const { child, gone, output } = started;
  let ended = false;
  void gone.then(() => (ended = true));
  const url = await until('the server to listen', () => (ended ? 'ended' : urlOf(home, child)), 30_000);
  if (url === 'ended') throw new Error(`the server ended before it listened: ${output()}`);
  const stop = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    return gone;
  };
  return { url, child, output, gone, stop, [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')) };
}

/** Starts a program that is expected to refuse. Throws when it listens instead. */
export async function refusedProgram(home: Home, options: ProgramOptions = {}): Promise<Refusal> {
  const { child, gone, output } = spawned(home, options);
  let code: number | null | undefined;
  void gone.then((ended) => (code = ended));
  const how = await until('the start to be refused', () => (code === undefined ? urlOf(home, child) && 'listens' : 'ended'), 30_000);
  if (how === 'ended') return { code: code ?? null, output: output() };
  child.kill('SIGKILL');
  await gone;
  throw new Error(`the server started: ${output()}`);
}

/** Starts a program, and kills it after a while, whatever it has done by then. */
export async function killedProgram(home: Home, pause: () => Promise<unknown>): Promise<void> {
  const { child, gone } = spawned(home, {});
  await Promise.race([pause(), gone]);
  child.kill('SIGKILL');
  await gone;
}

function spawned({ home, root }: Home, { env = {}, through = [], args = [] }: ProgramOptions) {
  const script = fileURLToPath(new URL(isBuilt ? '../../config/bin.js' : '../../config/bin.ts', import.meta.url));
  const [command = process.execPath, ...rest] = [...through, process.execPath, ...nodeArguments, script, 'serve', '--root', root, ...args];
  const child = spawn(command, rest, { cwd: home, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const gone = once(child, 'close').then(([code]) => code as number | null);
  return { child, gone, output: () => text };
}

function urlOf({ root }: Home, { pid }: ChildProcess): string | undefined {
  const file = join(root, 'server.json');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const owner =
    text.endsWith('}') || text.endsWith('}\n') ? (JSON.parse(text) as { readonly pid: number; readonly url: string }) : undefined;
  return owner?.pid === pid ? owner?.url : undefined;
}
