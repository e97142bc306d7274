/** What an agent remembers between turns. */

/** `core` stands in every prompt; `archival` is searched, its newest entries are shown. */
export type MemoryScope = 'core' | 'archival';

/**
 * Notes in `agents/<name>/MEMORY.md`. All methods also throw ORYX_INVALID_INPUT for a name that is none and for blank text, and ORYX_CONFLICT
 * when the file is not a plain one; `remember` throws ORYX_NOT_FOUND when the agent's directory is gone.
 */
export interface Memory {
  /**
   * Adds one entry, as one line. Throws ORYX_INVALID_INPUT when core memory is full or the entry too long, with advice.
   *
   * @param traceId  the run that the entry comes from; noted below it, out of sight of prompts and searches
   */
  remember(agent: string, content: string, scope: MemoryScope, traceId?: string): Promise<void>;
  /** Archival entries that contain the keyword, ignoring case; at most the last 50, in file order. */
  recall(agent: string, keyword: string): Promise<readonly string[]>;
  /** The whole MEMORY.md; the shared `memory/MEMORY.md` when there is none; "" without either. */
  readAll(agent: string): Promise<string>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    memory: Memory;
  }
}
