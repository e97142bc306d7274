/** The floor's tables and its group commit. */
import Database from 'better-sqlite3';
import type { FloorMessage } from './floor-model.ts';

/** One prepared statement with its values. */
type Write = () => void;

/** Everything that the floor stores; `write` resolves when its rows are on disk. */
export interface FloorStore {
  write(...writes: readonly Write[]): Promise<void>;
  sessionOpened(sessionId: string): Write;
  sessionTouched(sessionId: string, messages: number): Write;
  turnBegun(id: string, sessionId: string, input: string): Write;
  turnEnded(id: string, reply: string): Write;
  step(turnId: string, name: string, value: unknown): Write;
  message(turnId: string, sessionId: string, position: number, message: FloorMessage): Write;
  rows(): Readonly<Record<string, number>>;
  close(): void;
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS sessions (session_id TEXT PRIMARY KEY, message_count INTEGER NOT NULL, last_active_at INTEGER);
  CREATE TABLE IF NOT EXISTS turns (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, input TEXT NOT NULL,
    status TEXT NOT NULL, reply TEXT, accepted_at INTEGER NOT NULL, ended_at INTEGER);
  CREATE TABLE IF NOT EXISTS steps (turn_id TEXT NOT NULL, name TEXT NOT NULL, value_json TEXT, at INTEGER NOT NULL, PRIMARY KEY (turn_id, name))
    WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS messages (session_id TEXT NOT NULL, turn_id TEXT NOT NULL, position INTEGER NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL, tool_calls_json TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, turn_id, position)) WITHOUT ROWID;
`;

/** Makes the database at `file`; the caller closes it. */
export function floorStore(file: string): FloorStore {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(TABLES);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const openSession = db.prepare('INSERT INTO sessions VALUES (?, 0, NULL)');
  const touchSession = db.prepare('UPDATE sessions SET message_count = message_count + ?, last_active_at = ? WHERE session_id = ?');
  const beginTurn = db.prepare("INSERT INTO turns (id, session_id, input, status, accepted_at) VALUES (?, ?, ?, 'running', ?)");
  const endTurn = db.prepare("UPDATE turns SET status = 'completed', reply = ?, ended_at = ? WHERE id = ?");
  const addStep = db.prepare('INSERT INTO steps VALUES (?, ?, ?, ?)');
  const addMessage = db.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)');
  let queue: { readonly writes: readonly Write[]; readonly done: () => void }[] = [];

  const flush = (): void => {
    const group = queue;
    queue = [];
    begin.run();
    for (const { writes } of group) for (const write of writes) write();
    commit.run();
    for (const { done } of group) done();
  };
  return {
    write: (...writes) =>
      new Promise((done) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ writes, done });
      }),
    sessionOpened: (sessionId) => () => openSession.run(sessionId),
    sessionTouched: (sessionId, messages) => () => touchSession.run(messages, Date.now(), sessionId),
    turnBegun: (id, sessionId, input) => () => beginTurn.run(id, sessionId, input, Date.now()),
    turnEnded: (id, reply) => () => endTurn.run(reply, Date.now(), id),
    step: (turnId, name, value) => () => addStep.run(turnId, name, JSON.stringify(value), Date.now()),
    message: (turnId, sessionId, position, message) => () => {
      const calls = message.tool_calls === undefined ? null : JSON.stringify(message.tool_calls);
      addMessage.run(sessionId, turnId, position, message.role, message.content, calls, Date.now());
    },
    rows: () =>
      Object.fromEntries(
        ['sessions', 'turns', 'steps', 'messages'].map((table) => [
          table,
          db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number,
        ]),
      ),
    close: () => void db.close(),
  };
}
