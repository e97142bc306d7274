/** Tables of this plugin. */
import type { Migration } from '../../kernel/index.ts';
import { createOutbox } from './outbox-migrations.ts';

/** `notify_channels` holds one row per channel; secrets inside `config`, which is JSON, are sealed with the master key. */
const createChannels: Migration = {
  name: '001_create_notify_channels',
  up: [
    `CREATE TABLE notify_channels (
      name TEXT PRIMARY KEY,
      type TEXT NOT NULL,
      url TEXT NOT NULL,
      description TEXT,
      config TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(config)),
      is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    )`,
    'CREATE UNIQUE INDEX notify_channels_one_default ON notify_channels (is_default) WHERE is_default = 1',
  ],
};

/** In the order in which they run. */
export const migrations: readonly Migration[] = [createChannels, createOutbox];
