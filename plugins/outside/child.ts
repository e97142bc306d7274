/** One child process, from its start until nothing of it is left. */
import type * as Execa from 'execa';
import type { Clock } from '../../kernel/index.ts';
import { isFromCall } from './child-environment.ts';
import { ClippedOutput } from './clipped-output.ts';
import { codeOf } from './errno.ts';
import type { CommandEnd, CommandOutcome } from './processes-contract.ts';
import { ProcessProblem } from './processes-contract.ts';
import { endStrays } from './strays.ts';

/** A child that writes more than this on one of its streams is ended. */
const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 1_000;
/** How long pipes may stay open after the program itself has ended: its own children may hold them for ever. */
const PIPE_MS = 500;
/** A process that not even SIGKILL ends waits in the kernel, for a disk or a network that does not answer. */
const GIVE_UP_MS = 2_000;

/** Exactly what is started. */
export interface Launch {
  readonly file: string;
  /** Begins with the name that the program sees as its own. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What bounds a child. */
export interface ChildBounds {
  /** What messages call the program, whatever stands in front of it. */
  readonly name: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Each ends the child when it aborts. */
  readonly signals: readonly AbortSignal[];
  /** Children that leave the process group have to be looked for: nothing else ends them. */
  readonly mayStray: boolean;
}

/**
 * Starts a program in a process group of its own and waits for its end. At the deadline, on abort and at 10 MiB of output the group gets
 * SIGTERM and, a second later, SIGKILL. When the program has ended, what is left of its group is killed.
 *
 * Throws ProcessProblem when it cannot be started.
 */
export async function runChild(launch: Launch, { name, clock, timeoutMs, signals, mayStray }: ChildBounds): Promise<CommandOutcome> {
  const child = await started(launch, name);
  const stdout = new ClippedOutput();
  const stderr = new ClippedOutput();
  const cancels: (() => void)[] = [];
  const after = (delayMs: number, fn: () => void): void => void cancels.push(clock.after(delayMs, fn));
  let early: CommandEnd | undefined;
  let giveUp: () => void = () => undefined;

  const stop = (end: CommandEnd): void => {
    if (early !== undefined) return;
    early = end;
    signalGroup(child.pid, 'SIGTERM');
    after(GRACE_MS, () => signalGroup(child.pid, 'SIGKILL'));
    after(GRACE_MS + GIVE_UP_MS, () => giveUp());
  };
  const onAbort = (): void => stop({ kind: 'stopped' });
  const collect = (output: ClippedOutput) => (chunk: Buffer) => {
    output.add(chunk);
    if (output.total <= MAX_OUTPUT_BYTES) return;
    child.closePipes();
    stop({ kind: 'output', maxBytes: MAX_OUTPUT_BYTES });
  };

  child.onOutput(collect(stdout), collect(stderr));
  after(timeoutMs, () => stop({ kind: 'timeout', seconds: timeoutMs / 1000 }));
  for (const signal of signals) signal.addEventListener('abort', onAbort);
  if (signals.some(({ aborted }) => aborted)) onAbort();
  try {
    const gone = new Promise<CommandEnd>((resolve) => {
      giveUp = () => resolve({ kind: 'signal', signal: 'SIGKILL' });
    });
    const end = await Promise.race([child.ended, gone]);
    await Promise.race([child.drained, new Promise<void>((resolve) => after(PIPE_MS, resolve))]);
    signalGroup(child.pid, 'SIGKILL');
    if (mayStray) await endStrays(isFromCall(launch.env));
    child.closePipes();
    return { end: early ?? end, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    for (const cancel of cancels) cancel();
    for (const signal of signals) signal.removeEventListener('abort', onAbort);
  }
}

/** With the first program. What fails here once, for too many open files say, Node keeps failed: only a new process helps. */
async function loadExeca(name: string): Promise<typeof Execa> {
  try {
    return await import('execa');
  } catch (error) {
    const reason = `the server could not load a part of itself (${codeOf(error) || 'unknown error'})`;
    throw new ProcessProblem(`Could not start ${name}: ${reason}; an administrator has to restart it`, { cause: error });
  }
}

interface Started {
  readonly pid: number;
  /** The end of the program itself. */
  readonly ended: Promise<CommandEnd>;
  /** Both streams have been read to their end. */
  readonly drained: Promise<unknown>;
  onOutput(stdout: (chunk: Buffer) => void, stderr: (chunk: Buffer) => void): void;
  closePipes(): void;
}

async function started({ file, argv, cwd, env }: Launch, name: string): Promise<Started> {
  const { execa } = await loadExeca(name);
  const [argv0 = file, ...args] = argv;
  // Deadline, group and pipes are ours: execa's own timeout ends the direct child only and then waits for whoever holds its pipes.
  const child = execa(file, args, {
    argv0,
    cwd,
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    stdin: 'ignore',
    buffer: false,
    encoding: 'buffer',
    reject: false,
  });
  const { pid } = child;
  if (pid === undefined) throw startProblem(name, (await child).cause);
  const ended = new Promise<CommandEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }));
  });
  const streams = [child.stdout, child.stderr];
  const drained = Promise.all(streams.map((stream) => new Promise<void>((resolve) => void stream.once('close', resolve))));
  return {
    pid,
    ended,
    drained,
    onOutput(stdout, stderr) {
      child.stdout.on('data', stdout);
      child.stderr.on('data', stderr);
    },
    closePipes() {
      for (const stream of streams) stream.destroy();
    },
  };
}

const START_PROBLEMS: Readonly<Record<string, string>> = {
  E2BIG: 'its arguments are too long',
  ENOENT: 'it, or the program that its first line names, does not exist',
  ENOEXEC: 'it is not a program of this system',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ETXTBSY: 'it is being written',
  EAGAIN: 'there are too many processes; try again',
  ENOMEM: 'there is not enough memory; try again',
  EMFILE: 'there are too many open files; try again',
};

function startProblem(name: string, cause: unknown): ProcessProblem {
  const code = codeOf(cause);
  return new ProcessProblem(`Could not start ${name}: ${START_PROBLEMS[code] ?? (code || 'the system refused')}`, { cause });
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of the group is left, or what is left has become another user's: there is nothing to end.
  }
}
