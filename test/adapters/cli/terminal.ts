/** A command line to test: streams that remember, a workspace in a temporary directory, signals at will. */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { runCli } from '../../../adapters/cli/index.ts';
import type { CliHost, HostOptions, RunningHost } from '../../../adapters/cli/index.ts';
import { systemClock } from '../../../kernel/index.ts';

export interface Terminal extends AsyncDisposable {
  /** The directory that the commands run in. */
  readonly cwd: string;
  /** `<cwd>/.oryxos` */
  readonly root: string;
  readonly host: CliHost;
  /** What the hosts were started with. */
  readonly started: readonly HostOptions[];
  readonly closed: () => number;
  /** Runs a command; resolves with its exit code. */
  run(...argv: readonly string[]): Promise<number>;
  /** Everything on stdout, control sequences removed. */
  stdout(): string;
  /** Everything on stdout as it came. */
  rawStdout(): string;
  stderr(): string;
  type(text: string): void;
  endInput(): void;
  signal(name: 'SIGINT' | 'SIGTERM'): void;
  /** Makes `root` a workspace, with the server of that URL running on it. */
  withServer(url: string): Promise<void>;
  /** Resolves when stdout holds the text; rejects after 5 s and says what it holds. */
  until(text: string): Promise<void>;
}

export interface TerminalOptions {
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly startHost?: (options: HostOptions) => Promise<RunningHost>;
  readonly monotonic?: () => number;
  readonly settings?: CliHost['settings'];
  readonly restore?: CliHost['restore'];
}

/** A host that is another server's address, and does nothing else. */
export const hostAt = (url: string, root = '/work', onClose: () => void = () => {}): RunningHost => ({
  url,
  root,
  agents: [{ name: 'default', provider: 'mock', status: 'ok' }],
  providers: ['mock'],
  warnings: [],
  close: async () => onClose(),
});

export async function openTerminal(options: TerminalOptions = {}): Promise<Terminal> {
  const cwd = await mkdtemp(join(tmpdir(), 'oryxos-cli-'));
  const root = join(cwd, '.oryxos');
  const stdin = Object.assign(new PassThrough(), { isTTY: options.isTTY === true });
  const stdout = Object.assign(new PassThrough(), { isTTY: options.isTTY === true, columns: 80 });
  const stderr = new PassThrough();
  const [outText, errText] = [remembered(stdout), remembered(stderr)];
  const signals = new Set<readonly [string, () => void]>();
  const started: HostOptions[] = [];
  let closed = 0;
  const clock = systemClock();
  const host: CliHost = {
    env: options.env ?? {},
    stdin,
    stdout,
    stderr,
    cwd,
    version: '1.2.3',
    user: 'ann',
    clock: { ...clock, monotonic: () => options.monotonic?.() ?? clock.monotonic() },
    onSignal(name, fn) {
      const entry = [name, fn] as const;
      signals.add(entry);
      return () => signals.delete(entry);
    },
    async startHost(asked) {
      started.push(asked);
      if (options.startHost === undefined) throw new Error('this test starts no host');
      const running = await options.startHost(asked);
      return {
        ...running,
        close: async () => {
          closed += 1;
          await running.close();
        },
      };
    },
    async initWorkspace(at) {
      await mkdir(join(at, 'agents', 'default'), { recursive: true });
      await writeFile(join(at, 'agents', 'default', 'AGENT.md'), '---\nname: default\n---\n', { flag: 'wx' }).catch(() => {});
      return ['agents/default/AGENT.md'];
    },
    settings: options.settings ?? (async () => []),
    isolation: async (setting) => ({ isolated: setting === 'auto', summary: `Isolation is ${setting}.` }),
    restore: options.restore ?? (() => Promise.reject(new Error('this test restores nothing'))),
  };
  return {
    cwd,
    root,
    host,
    started,
    closed: () => closed,
    run: (...argv) => runCli(argv, host),
    stdout: () => stripVTControlCharacters(outText()),
    rawStdout: outText,
    stderr: errText,
    type: (text) => void stdin.write(text),
    endInput: () => void stdin.end(),
    signal: (name) => [...signals].filter(([wanted]) => wanted === name).forEach(([, fn]) => fn()),
    async withServer(url) {
      await mkdir(join(root, 'agents'), { recursive: true });
      await writeFile(join(root, 'server.json'), JSON.stringify({ pid: process.pid, host: 'here', url, kind: 'serve' }));
    },
    until: (text) =>
      eventually(
        () => outText().includes(text) || stripVTControlCharacters(outText()).includes(text),
        () => `"${text}" in: ${outText()}\n${errText()}`,
      ),
    [Symbol.asyncDispose]: () => rm(cwd, { recursive: true, force: true }),
  };
}

/** Waits for a condition; rejects after 5 s with what was awaited. */
export async function eventually(condition: () => boolean, what: () => string): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function remembered(stream: PassThrough): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return () => text;
}
