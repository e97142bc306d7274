/** The service through which tools touch files. What is checked is the very object that is used. */
import type { OutgoingHttp, ToolRun } from '../../kernel/index.ts';

/** A file or directory that has been resolved, checked and opened beneath an allowed root. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
}

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

/** A failure that the model can act on. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

export interface Outside {
  readonly files: Files;
  /** Outgoing HTTP for administrators' URLs (providers, later notify and MCP): no whitelist, no redirects, never metadata addresses. */
  readonly registered: OutgoingHttp;
}

declare module '../../kernel/index.ts' {
  interface Services {
    outside: Outside;
  }
}
