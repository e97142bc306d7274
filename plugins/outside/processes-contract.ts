/** How tools start programs. */
import type { ToolRun } from '../../kernel/index.ts';

/** A program and its arguments, as they were asked for. No shell is involved: every argument reaches the program as it stands. */
export interface Command {
  /** A name, looked up in /usr/local/bin, /usr/bin and /bin, or an absolute path. */
  readonly executable: string;
  readonly arguments: readonly string[];
}

/** Why a program is no longer running. `stopped`: its call was cancelled, or the server stops. */
export type CommandEnd =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'output'; readonly maxBytes: number }
  | { readonly kind: 'stopped' };

/** How a program ended and what it wrote, at most 64 KiB of each stream: its beginning and end around a line that says what is missing. */
export interface CommandOutcome {
  readonly end: CommandEnd;
  readonly stdout: string;
  readonly stderr: string;
}

/** How children are separated from the machine. */
export interface IsolationStatus {
  readonly setting: 'auto' | 'strict' | 'none';
  /** bubblewrap is used for every child. */
  readonly isolated: boolean;
  /** What an operator should know, one sentence; undefined when children are isolated. */
  readonly warning: string | undefined;
  /** The present state in one sentence, for reports. */
  readonly summary: string;
}

/** Programs for tool calls. */
export interface Processes {
  /**
   * Runs one program to its end: in the agent's own directory, without input, with an environment that holds nothing of the server's.
   * The executable is judged by the guards (`run.claim`) before anything is looked up. Nothing that the program started outlives the call.
   *
   * Throws ORYX_REFUSED for a refusal, and ProcessProblem for a program that could not be started. However it ends otherwise is an outcome.
   */
  run(command: Command, run: ToolRun): Promise<CommandOutcome>;
  readonly isolation: IsolationStatus;
}

/** A failure whose text is fit for the model. */
export class ProcessProblem extends Error {
  override readonly name = 'ProcessProblem';
  /** Set when nothing is started as long as the configuration is what it is: not retryable then. */
  readonly blockedBy: string | undefined;
  constructor(message: string, options?: { readonly cause?: unknown; readonly blockedBy?: string }) {
    super(message, options);
    this.blockedBy = options?.blockedBy;
  }
}

/** What a guard lets the children of an agent's calls see and change. */
export interface ConfinementView {
  /** Real paths of files and directories, beside the workspace, that may be changed. */
  readonly writable: readonly string[];
  /** How a path of the workspace, which need not exist, is kept from children. Pure. */
  readonly protection: (path: string) => 'hidden' | 'read-only' | undefined;
}

/** Extension point `confinement`: asked before each child is started. Writable paths of all add up; the strictest protection counts. */
export interface Confinement {
  readonly name: string;
  view(agent: string): ConfinementView;
}

declare module '../../kernel/index.ts' {
  interface Extensions {
    confinement: Confinement;
  }
}
