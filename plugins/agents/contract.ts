/** Agents: directories whose AGENT.md says who they are. */
import type { Named, Profile } from '../../kernel/index.ts';

/** What is wrong with an AGENT.md, where, and what to do about it. */
export interface AgentError {
  readonly message: string;
  /** Relative to the workspace, e.g. "agents/ops/AGENT.md". */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** A schedule as AGENT.md declares it; `id` and `key` are the same. */
export interface ScheduleView {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly cron: string;
  readonly zone: string | null;
  readonly message: string | null;
}

/** An agent as the API shows it. A broken one has only `name`, `status` and `error` filled in. */
export interface AgentView {
  readonly name: string;
  readonly description: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly schedules: readonly ScheduleView[];
  readonly status: 'ok' | 'stale' | 'broken';
  readonly error: AgentError | null;
  readonly warnings: readonly string[];
  readonly version: string | null;
}

/** A place in a text; both count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One YAML-front-matter file, parsed safely. */
export interface FrontMatter {
  /** Known and unknown keys alike, null-prototype. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Line of the file on which the YAML starts, from 1. */
  readonly yamlLine: number;
  /** Where the key or list item of that path stands in the file; where its nearest existing parent stands when it is missing. */
  readonly positionOf: (path: readonly (string | number)[]) => TextPosition;
  /** What the YAML reader found odd but readable, with line numbers. */
  readonly warnings: readonly string[];
}

/** What reading front matter gave: the file, or what is wrong with it and where. */
export type FrontMatterResult =
  | { readonly ok: true; readonly matter: FrontMatter }
  | { readonly ok: false; readonly problem: TextPosition & { readonly message: string } };

export { cronProblem } from './cron-syntax.ts';
export { parseFrontMatter } from './front-matter.ts';
export { isZone } from './zone.ts';

/** Something in an AGENT.md that will not work as it is now. */
export interface AgentWarning {
  /** Where in the front matter, e.g. `['schedules', 0, 'on_failure']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Looks for names in an AGENT.md that the plugin should know and does not. Registered in the extension point `agentCheck`, and asked whenever
 * somebody looks at an agent: what is missing may still come, so it is a warning and never an error.
 */
export interface AgentCheck extends Named {
  /** `profile.frontmatter` holds the keys as they were written. Must not throw. */
  warnings(profile: Profile): readonly AgentWarning[];
}

/** The agents of the workspace. */
export interface Agents {
  list(): readonly AgentView[];
  /** Throws ORYX_NOT_FOUND. */
  view(name: string): AgentView;
  /** Makes sure that the agent can be talked to. Throws ORYX_NOT_FOUND, or ORYX_CONFLICT with its error for a broken agent. */
  requireRunnable(name: string): void;
  /** Resolves when every change on disk up to now is live; for tests and for callers that wrote a file themselves. */
  settled(): Promise<void>;
  /**
   * Writes the AGENT.md of an agent, and creates the agent when there is no directory of that name. It is live when this resolves.
   * Throws ORYX_INVALID_AGENT or ORYX_INVALID_INPUT, and nothing has changed then.
   */
  save(name: string, markdown: string): Promise<AgentView>;
  /**
   * Called when an agent is deleted through the API, when nobody can find it any more and before its directory is archived. A rejection
   * stops the deletion and brings the agent back. `fn` must not wait for a change of agents: none happens before it has ended.
   */
  onDeleted(fn: (name: string) => Promise<void>): () => void;
}

declare module '../../kernel/index.ts' {
  interface Services {
    agents: Agents;
  }
  interface Extensions {
    agentCheck: AgentCheck;
  }
}
