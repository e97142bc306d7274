/** What an agent remembers between turns. */

export type MemoryScope = 'core' | 'archival';

export interface Memory {
  /** Adds one entry. Throws ORYX_INVALID_INPUT when core memory is full, with advice. */
  remember(agent: string, content: string, scope: MemoryScope): Promise<void>;
  /** Archival entries that contain the keyword, ignoring case; at most 50, in file order. */
  recall(agent: string, keyword: string): Promise<readonly string[]>;
  /** The whole MEMORY.md, "" when there is none. */
  readAll(agent: string): Promise<string>;
}

declare module '../../kernel/index.ts' {
  interface Services {
    memory: Memory;
  }
}
