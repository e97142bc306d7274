/** Texts of agents by content hash. A run keeps the hash and finds its agent again, whatever has become of the file. */
import type { Statement, Store } from '../../kernel/index.ts';

/** One version of an agent. */
export interface AgentText {
  readonly name: string;
  /** SHA-256 of the file, hex. */
  readonly version: string;
  readonly text: string;
}

/** The texts, by name and version. Every method rejects as `Store` does. */
export interface AgentVersions {
  /** The version of each agent that was live last. */
  live(): Promise<ReadonlyMap<string, string>>;
  text(name: string, version: string): Promise<string | undefined>;
  /** Keeps the texts, each once, and marks them live in place of their predecessors; `also` commits with them. Durable when resolved. */
  keepLive(texts: readonly AgentText[], at: number, also?: readonly Statement[]): Promise<void>;
  /** None of the agents has a live version any more; the texts stay. */
  retire(names: readonly string[]): Promise<void>;
}

/** The texts in the database. */
export function createAgentVersions(store: Store): AgentVersions {
  const retired = (name: string): Statement => ({ sql: 'UPDATE agent_versions SET live = 0 WHERE name = ? AND live = 1', params: [name] });
  return {
    async live() {
      const rows = await store.all<{ name: string; version: string }>('SELECT name, version FROM agent_versions WHERE live = 1');
      return new Map(rows.map(({ name, version }) => [name, version]));
    },
    async text(name, version) {
      const row = await store.get<{ text: string }>('SELECT text FROM agent_versions WHERE name = ? AND version = ?', name, version);
      return row?.text;
    },
    async keepLive(texts, at, also = []) {
      if (texts.length + also.length === 0) return;
      await store.write(
        ...also,
        ...texts.flatMap(({ name, version, text }): readonly Statement[] => [
          retired(name),
          {
            sql: `INSERT INTO agent_versions (name, version, text, created_at, live) VALUES (?, ?, ?, ?, 1)
                  ON CONFLICT (name, version) DO UPDATE SET live = 1`,
            params: [name, version, text, at],
            expect: 1,
          },
        ]),
      );
    },
    async retire(names) {
      if (names.length > 0) await store.write(...names.map(retired));
    },
  };
}
