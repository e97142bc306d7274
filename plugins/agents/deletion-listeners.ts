/** Those who want to know before a deleted agent's directory moves away. */

export interface DeletionListeners {
  /** Returns its undo. */
  add(listener: (name: string) => Promise<void>): () => void;
  /** Tells all, one after another. Rejects with the first failure; the others are not told then. */
  tell(name: string): Promise<void>;
}

/** An empty list. */
export function createDeletionListeners(): DeletionListeners {
  const listeners = new Set<{ readonly listener: (name: string) => Promise<void> }>();
  return {
    add(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    async tell(name) {
      for (const { listener } of listeners) await listener(name);
    },
  };
}
