/** What the command line is given by whoever starts it: streams, surroundings, and the two ways to touch a workspace. */
import type { Clock } from '../../kernel/index.ts';
import type { SettingView } from './views.ts';

/** A readable stream that may be a terminal. */
export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** A writable stream that may be a terminal; `columns` is its width. */
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** How to start a host. */
export interface HostOptions {
  /** Absolute path of the workspace. */
  readonly root: string;
  /** Absolute path of a configuration file that stands in for `<root>/application.yml`. */
  readonly config?: string;
  /** Only with `serve`; 0 takes any free port. Absent: as configured. */
  readonly port?: number;
  /** Only with `serve`. Absent: as configured. */
  readonly host?: string;
  /** `embedded` opens a free loopback port and starts no schedules, no watchers and no MCP servers. */
  readonly mode: 'serve' | 'embedded';
}

/** One agent in the banner. */
export interface AgentLine {
  readonly name: string;
  readonly provider: string | null;
  readonly status: 'ok' | 'stale' | 'broken';
}

/** A host that listens. */
export interface RunningHost {
  readonly url: string;
  readonly root: string;
  readonly agents: readonly AgentLine[];
  readonly providers: readonly string[];
  readonly warnings: readonly string[];
  /** Drains and releases the workspace. Resolves when nothing is left open; calling it again waits for the same end. */
  close(): Promise<void>;
}

/** A workspace made of a backup. */
export interface RestoredWorkspace {
  /** When the backup was made; ISO-8601, UTC. */
  readonly createdAt: string;
  readonly files: number;
  /** Where the workspace is now that stood there before; null for none. */
  readonly aside: string | null;
  /** It holds secrets that need a key which the backup has not. */
  readonly needsKey: boolean;
}

/** Everything the command line touches. The process supplies it once; tests supply their own. */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Relative paths start here. */
  readonly cwd: string;
  /** Version of the product, e.g. "0.1.0". */
  readonly version: string;
  /** Name of the person at the terminal. */
  readonly user: string;
  readonly clock: Clock;
  /** Calls `fn` at each arrival of the signal until disposed. */
  onSignal(signal: 'SIGINT' | 'SIGTERM', fn: () => void): () => void;
  /** Resolves when the host answers. Rejects with an OryxError when the workspace is taken, the port is in use, the configuration is wrong. */
  startHost(options: HostOptions): Promise<RunningHost>;
  /** Fills a workspace from the template; what exists is left alone. Returns the created paths, relative to the root. */
  initWorkspace(root: string): Promise<readonly string[]>;
  /** The value of `oryxos.root` in a configuration file, if it has one. Absent: configuration files name no root. */
  configuredRoot?(configFile: string): Promise<string | undefined>;
  /** The settings that `serve` would have, with their origins, secrets masked. Rejects with ORYX_CONFIG when the configuration is not valid. */
  settings(options: { readonly root: string; readonly config?: string }): Promise<readonly SettingView[]>;
  /** Tries out how programs of agents are isolated on this machine with that value of `shell.isolation`. */
  isolation(setting: string): Promise<{ readonly isolated: boolean; readonly summary: string }>;
  /** Makes a workspace of a backup, wholly or not at all. Rejects with an OryxError that says why not. */
  restore(options: { readonly file: string; readonly root: string; readonly force: boolean }): Promise<RestoredWorkspace>;
}
