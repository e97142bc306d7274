import type { Migration } from '../../kernel/index.ts';

/**
 * One row for each message that was accepted, with how far its answer is. `id` is the run's; `answer` is a text that needs no run;
 * `unsure_since` is the first attempt at the part of the answer that is under way, while it is not known whether it has arrived.
 */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_channel_messages',
    up: [
      `CREATE TABLE channel_messages (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        channel TEXT NOT NULL,
        event_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        sender_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        session_id TEXT NOT NULL,
        answer TEXT,
        state TEXT NOT NULL,
        parts_sent INTEGER NOT NULL DEFAULT 0,
        unsure_since INTEGER,
        error TEXT,
        created_at INTEGER NOT NULL,
        ended_at INTEGER,
        UNIQUE (channel, event_id),
        UNIQUE (channel, message_id)
      )`,
      "CREATE INDEX channel_messages_open ON channel_messages (seq) WHERE state IN ('accepted', 'sending')",
      'CREATE INDEX channel_messages_created ON channel_messages (created_at)',
    ],
  },
];
