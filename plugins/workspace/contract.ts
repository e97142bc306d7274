/** The workspace: one directory on disk that holds agents, database and keys. */

/** Where everything of one OryxOS lies. */
export interface Workspace {
  /** Real, absolute path of the root. */
  readonly root: string;
  /** Identifies this workspace across restarts; kept in `<root>/.instance`. Marks child processes, so that one server never ends another's. */
  readonly instanceId: string;
  /** Absolute path of something in the workspace, e.g. `path('agents', 'default', 'AGENT.md')`. Does not check that segments stay inside. */
  path(...segments: readonly string[]): string;
  /**
   * Replaces a file so that readers see the old or the new text, never a part: temp file, fsync, rename, fsync of the directory. Creates parents.
   * Without `mode` (octal, e.g. 0o600) an existing file keeps its own. A symbolic link is replaced, not followed.
   *
   * Rejects with ORYX_STORE_UNAVAILABLE when the disk is full, read-only or not writable; the old file is untouched then.
   */
  writeFile(file: string, content: string | Uint8Array, options?: { readonly mode?: number }): Promise<void>;
  /** As `writeFile`, but leaves a file that exists as it is and answers false; of two callers at once exactly one gets true. */
  createFile(file: string, content: string | Uint8Array, options?: { readonly mode?: number }): Promise<boolean>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    workspace: Workspace;
  }
}
