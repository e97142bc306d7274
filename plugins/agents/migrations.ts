import type { Migration } from '../../kernel/index.ts';

/** Tables of the agents plugin. */
export const migrations: readonly Migration[] = [
  {
    name: '001_create_agent_versions',
    up: [
      `CREATE TABLE agent_versions (
         name       TEXT    NOT NULL,
         version    TEXT    NOT NULL,
         text       TEXT    NOT NULL,
         created_at INTEGER NOT NULL,
         live       INTEGER NOT NULL DEFAULT 0,
         PRIMARY KEY (name, version)
       ) WITHOUT ROWID`,
      'CREATE UNIQUE INDEX agent_versions_live ON agent_versions (name) WHERE live = 1',
      `CREATE TABLE agent_saves (
         id   TEXT    PRIMARY KEY,
         note TEXT    NOT NULL,
         done INTEGER NOT NULL DEFAULT 0
       ) WITHOUT ROWID`,
    ],
  },
];
