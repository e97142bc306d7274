/** The table of the outbox. */
import type { Migration } from '../../kernel/index.ts';

/**
 * One row per message. `place` orders what waits in a channel; `sender` is the life of the plugin that made the last attempt. The content
 * stands last: to read a column SQLite walks through everything before it.
 */
export const createOutbox: Migration = {
  name: '002_create_notify_outbox',
  up: [
    `CREATE TABLE notify_outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE,
      channel TEXT NOT NULL,
      place INTEGER NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'unknown')),
      parts INTEGER NOT NULL DEFAULT 1,
      parts_sent INTEGER NOT NULL DEFAULT 0,
      chars_sent INTEGER NOT NULL DEFAULT 0,
      attempts INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0,
      error TEXT,
      error_code TEXT,
      sender TEXT,
      trace_id TEXT,
      agent TEXT,
      created_at INTEGER NOT NULL,
      attempted_at INTEGER,
      next_attempt_at INTEGER,
      expires_at INTEGER NOT NULL,
      ended_at INTEGER,
      content TEXT NOT NULL,
      CHECK ((ended_at IS NULL) = (state IN ('pending', 'sending')))
    )`,
    'CREATE INDEX notify_outbox_line ON notify_outbox (channel, place) WHERE ended_at IS NULL',
    'CREATE INDEX notify_outbox_ended ON notify_outbox (ended_at) WHERE ended_at IS NOT NULL',
    'CREATE INDEX notify_outbox_state ON notify_outbox (state, id)',
    'CREATE INDEX notify_outbox_attempted ON notify_outbox (channel, attempted_at)',
    'CREATE INDEX notify_outbox_trace ON notify_outbox (trace_id) WHERE trace_id IS NOT NULL',
  ],
};
