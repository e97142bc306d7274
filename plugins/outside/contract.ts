/** The service through which tools touch files. What is checked is the very object that is used. */
import type { OutgoingHttp, ToolRun } from '../../kernel/index.ts';
import type { Http } from './http-contract.ts';
import type { Processes } from './processes-contract.ts';

export { headerProblem } from './header-problem.ts';
export { hasControlCharacters, printable } from './printable.ts';
export { ProjectionProblem, project } from './project.ts';
export type { Projection } from './project.ts';
export { givenPath } from './resolved-claim.ts';
export { accessOf, addressesOf, HttpProblem, urlClaim } from './http-contract.ts';
export type { Http, HttpAnswer, HttpCall, HttpMethod } from './http-contract.ts';
export { isMetadataAddress, isMetadataHost } from './registered-addresses.ts';
export { ProcessProblem } from './processes-contract.ts';
export type {
  Command,
  CommandEnd,
  CommandOutcome,
  Confinement,
  ConfinementView,
  IsolationStatus,
  Processes,
} from './processes-contract.ts';

/** A file or directory that has been resolved, checked and opened beneath an allowed root. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
}

/** One name in a directory; a link is shown as a link, whatever it leads to. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
}

/** One regular file that a walk has come to. */
export interface WalkedFile {
  /** Below the directory that is walked, with "/"; "" when the walk began at this very file. */
  readonly path: string;
  /** Its bytes; to be asked for while the file is visited. Throws as `Files.read` does. */
  read(maxBytes: number): Promise<Uint8Array>;
}

/** What a walk looks at. Paths are relative to where it began. */
export interface Walk {
  /** Whether to look into a directory. */
  enters(path: string): boolean;
  /** Whether to visit a file. Must be quick: it is asked for every file there is. */
  wants(path: string): boolean;
  /** Answers false to end the walk. */
  visit(file: WalkedFile): boolean | Promise<boolean>;
}

/** What a walk left out: more entries than it may look at, everything after its time was over, directories that are too deep. */
export type WalkCut = 'entries' | 'time' | 'depth';

/**
 * Files for one tool call. Relative paths start at the agent's own directory. Every method has its object judged by the guards
 * (`run.claim`) as the real path it resolved to, and then acts on that object by descriptor: a link swapped in between is never followed.
 * Refusals throw ORYX_REFUSED; things that are missing or of the wrong kind throw `FileProblem`, whose text is fit for the model.
 */
export interface Files {
  /** Bytes of a regular file. Throws FileProblem when it is larger than `maxBytes`. */
  read(path: string, run: ToolRun, options: { readonly maxBytes: number }): Promise<Uint8Array>;
  /** What is there, undefined for nothing. Links are followed. */
  stat(path: string, run: ToolRun): Promise<FileStat | undefined>;
  /** Replaces or creates a file atomically, with its parents. */
  write(path: string, content: Uint8Array, run: ToolRun): Promise<void>;
  /** As `write`, piece by piece, of at most `maxBytes`. What `pieces` throws is thrown, and the old file stays. Resolves with the size. */
  writePieces(path: string, pieces: AsyncIterable<Uint8Array>, run: ToolRun, options: { readonly maxBytes: number }): Promise<number>;
  /**
   * Replaces a file's content by what `change` makes of it. When somebody else has replaced the file meanwhile, `change` is asked again.
   * What it throws is thrown, and the file stays as it is. Throws FileProblem when the file is larger than `maxBytes`.
   */
  update(path: string, run: ToolRun, options: { readonly maxBytes: number }, change: (old: Uint8Array) => Uint8Array): Promise<void>;
  /** Adds to the end of a file, which is created with its parents when it is missing. Parts that several callers add do not mix. */
  append(path: string, content: Uint8Array, run: ToolRun): Promise<void>;
  /** Creates a directory with its parents; one that exists is fine. */
  makeDirectory(path: string, run: ToolRun): Promise<void>;
  /** Removes a file. A link is removed itself, and what it leads to stays. */
  remove(path: string, run: ToolRun): Promise<void>;
  /** Moves a file, or a link itself, over a file that may be there; creates parents. */
  move(from: string, to: string, run: ToolRun): Promise<void>;
  /** Copies a regular file over one that may be there; creates parents. */
  copy(from: string, to: string, run: ToolRun): Promise<void>;
  /** Entries sorted by name; at most `max`, `more` tells that there are others. */
  list(
    path: string,
    run: ToolRun,
    options: { readonly max: number },
  ): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly more: boolean }>;
  /**
   * Visits the files below a directory, or one file, sorted by name. Follows no links, and passes over what the guards do not permit and what
   * cannot be opened. Looks at 50 000 entries, 64 levels and for 10 s at most. Resolves with what was left out for that.
   */
  walk(path: string, run: ToolRun, walk: Walk): Promise<readonly WalkCut[]>;
}

/** A failure whose text is fit for the model. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  /** Set when tools may never touch this kind of object (a pipe, a device, a file with several hard links): not retryable then. */
  readonly blockedBy: string | undefined;
  constructor(message: string, options?: { readonly cause?: unknown; readonly blockedBy?: string }) {
    super(message, options);
    this.blockedBy = options?.blockedBy;
  }
}

/** Outgoing HTTP for administrators' URLs (providers, later notify and MCP): no whitelist, no redirects, never metadata addresses. */
export interface RegisteredHttp extends OutgoingHttp {
  /**
   * Why a URL must not be registered, as the end of a sentence, or undefined when it may: http or https only, no user name or password,
   * no metadata or link-local host. Looks nothing up; every request checks the addresses behind the name again.
   */
  refusal(url: string): string | undefined;
}

/** Everything that tools and plugins reach outside of this process. */
export interface Outside {
  readonly files: Files;
  readonly http: Http;
  readonly processes: Processes;
  readonly registered: RegisteredHttp;
}

declare module '../../kernel/index.ts' {
  interface Services {
    outside: Outside;
  }
}
