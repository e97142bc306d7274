/** Programs for tools: judge, look up, freeze, start exactly that. */
import { realpath } from 'node:fs/promises';
import type { Clock, ReadonlyRegistry, ToolRun } from '../../kernel/index.ts';
import { runChild } from './child.ts';
import type { Launch } from './child.ts';
import { childEnvironment, newCallId, passedThrough } from './child-environment.ts';
import type { Isolation } from './isolation.ts';
import { programFor } from './isolation.ts';
import { printable } from './printable.ts';
import type { Command, CommandOutcome, Confinement, ConfinementView, Processes } from './processes-contract.ts';
import { ProcessProblem } from './processes-contract.ts';
import { findProgram } from './program.ts';
import { limitPrefix } from './resource-limits.ts';
import { isBelow } from './workspace-mounts.ts';

/** What `createProcesses` needs. Time limit, variables and isolation are looked up at each call. */
export interface ProcessesOptions {
  readonly clock: Clock;
  /** Ends every child when it aborts. */
  readonly signal: AbortSignal;
  /** Real path of the workspace. */
  readonly root: string;
  readonly instanceId: string;
  /** An agent's own directory: absolute, links in it resolved or not. */
  readonly homeOf: (agent: string) => string;
  readonly timeoutSeconds: number;
  /** Names of environment variables of the server that children get. */
  readonly passThrough: readonly string[];
  readonly isolation: Isolation;
  readonly confinements: ReadonlyRegistry<Confinement>;
}

/** The service `outside.processes`, and a way to wait until no child is left. */
export function createProcesses(options: ProcessesOptions): Processes & { settled(): Promise<void> } {
  const { clock, root } = options;
  const running = new Set<Promise<unknown>>();

  async function run(command: Command, toolRun: ToolRun): Promise<CommandOutcome> {
    const { isolation, timeoutSeconds } = options;
    // Read once: what is judged below is what is started, whatever the caller's objects say a second time.
    const executable = command.executable;
    const args = Object.freeze([...command.arguments]);
    await toolRun.claim({ kind: 'command', value: executable });
    if (isolation.refuses) throw new ProcessProblem(isolation.status.warning ?? '', { blockedBy: 'sandbox' });
    if (args.some((text) => text.includes('\0'))) throw new ProcessProblem('Arguments must not contain NUL characters');
    const agent = toolRun.turn.agent.name;
    const launch = await launchOf(executable, args, await homeOf(agent));
    const view = strictest(options.confinements.list(), agent, launch.cwd);
    const isolated = await isolation.wrap(launch, { root, home: launch.cwd, view });
    const ready = await limited(isolated, timeoutSeconds);
    const signals = [toolRun.signal, options.signal];
    if (signals.some(({ aborted }) => aborted)) return { end: { kind: 'stopped' }, stdout: '', stderr: '' };
    return runChild(ready, {
      name: printable(executable),
      clock,
      timeoutMs: timeoutSeconds * 1000,
      signals,
      mayStray: !isolation.status.isolated,
    });
  }

  async function homeOf(agent: string): Promise<string> {
    try {
      return await realpath(options.homeOf(agent));
    } catch (error) {
      throw new ProcessProblem('The directory of this agent no longer exists', { cause: error });
    }
  }

  async function launchOf(executable: string, args: readonly string[], home: string): Promise<Launch> {
    const program = await findProgram(executable);
    if (program === undefined) throw new ProcessProblem(`Program not found: ${printable(executable)}`);
    const identity = { home, instanceId: options.instanceId, callId: newCallId(), executable };
    return Object.freeze({
      file: program.file,
      argv: Object.freeze([program.foundAt, ...args]),
      cwd: home,
      env: childEnvironment(identity, passedThrough(options.passThrough)),
    });
  }

  return {
    get isolation() {
      return options.isolation.status;
    },
    async run(command, toolRun) {
      const child = run(command, toolRun);
      running.add(child);
      try {
        return await child;
      } finally {
        running.delete(child);
      }
    },
    async settled() {
      await Promise.allSettled(running);
    },
  };
}

/** The same command under the limits of the operating system. */
async function limited(launch: Launch, timeoutSeconds: number): Promise<Launch> {
  const [file, ...prefix] = await limitPrefix(timeoutSeconds);
  if (file === undefined) return launch;
  const argv = [file, ...prefix, programFor(launch.file, launch.argv), ...launch.argv.slice(1)];
  return Object.freeze({ ...launch, file, argv: Object.freeze(argv) });
}

/** Without any guard that knows better only the agent's own directory is there. */
function strictest(confinements: readonly Confinement[], agent: string, home: string): ConfinementView {
  if (confinements.length === 0) return { writable: [], protection: (path) => (isBelow(home, path) ? undefined : 'hidden') };
  const views = confinements.map((confinement) => confinement.view(agent));
  return {
    writable: views.flatMap(({ writable }) => writable),
    protection(path) {
      const found = views.map((view) => view.protection(path));
      return found.find((one) => one === 'hidden') ?? found.find((one) => one === 'read-only');
    },
  };
}
