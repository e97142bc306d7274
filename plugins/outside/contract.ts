/** The service through which tools touch files. What is checked is the very object that is used. */
import type { OutgoingHttp, ToolRun } from '../../kernel/index.ts';

export { hasControlCharacters, printable } from './printable.ts';
export { ProjectionProblem, project } from './project.ts';
export type { Projection } from './project.ts';
export { givenPath } from './resolved-claim.ts';

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

/**
 * Files for one tool call. Relative paths start at the agent's own directory. Every method has its object judged by the guards
 * (`run.claim`) as the real path it resolved to, and then acts on that object by descriptor: a link swapped in between is never followed.
 * Refusals throw ORYX_REFUSED; things that are missing or of the wrong kind throw `FileProblem`, whose text is fit for the model.
 */
export interface Files {
  /** Bytes of a regular file. Throws FileProblem when it is larger than `maxBytes`. */
  read(path: string, run: ToolRun, options: { readonly maxBytes: number }): Promise<Uint8Array>;
  /** Replaces or creates a file atomically, with its parents. */
  write(path: string, content: Uint8Array, run: ToolRun): Promise<void>;
  /** Entries sorted by name; at most `max`, `more` tells that there are others. */
  list(
    path: string,
    run: ToolRun,
    options: { readonly max: number },
  ): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly more: boolean }>;
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
  readonly registered: RegisteredHttp;
}

declare module '../../kernel/index.ts' {
  interface Services {
    outside: Outside;
  }
}
