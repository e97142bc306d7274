/** Notes of saves that are under way, so that one which a crash cut short can be undone at the next start. */
import type { Statement, Store } from '../../kernel/index.ts';
import type { SaveNote } from './save-note.ts';

/** A save whose process did not come to its end. */
export interface UnfinishedSave {
  readonly id: string;
  readonly note: SaveNote;
  /** All files are in place and count; only the old ones are left to remove. */
  readonly done: boolean;
}

/** The notes, by id of the save. Every method rejects as `Store` does. */
export interface AgentSaves {
  begin(id: string, note: SaveNote): Promise<void>;
  /** The statement from whose commit on the new files count. */
  committed(id: string): Statement;
  forget(id: string): Promise<void>;
  unfinished(): Promise<readonly UnfinishedSave[]>;
}

/** The notes in the database. */
export function createAgentSaves(store: Store): AgentSaves {
  return {
    async begin(id, note) {
      await store.write({ sql: 'INSERT INTO agent_saves (id, note) VALUES (?, ?)', params: [id, JSON.stringify(note)] });
    },
    committed: (id) => ({ sql: 'UPDATE agent_saves SET done = 1 WHERE id = ?', params: [id], expect: 1 }),
    async forget(id) {
      await store.write({ sql: 'DELETE FROM agent_saves WHERE id = ?', params: [id] });
    },
    async unfinished() {
      const rows = await store.all<{ id: string; note: string; done: number }>('SELECT id, note, done FROM agent_saves ORDER BY id');
      return rows.map(({ id, note, done }) => ({ id, note: JSON.parse(note) as SaveNote, done: done === 1 }));
    },
  };
}
