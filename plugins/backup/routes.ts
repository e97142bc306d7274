/** Backups and the check of the database over REST. */
import { defineRoute } from '../http/contract.ts';
import type { Route } from '../http/contract.ts';
import type { StoreHealth } from '../store/contract.ts';
import type { Archive } from './create-archive.ts';
import { skippedSchema } from './manifest.ts';

const backupView = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Of the file, relative to the workspace.', example: 'backups/20260722T083000000Z-workspace.tar' },
    createdAt: { type: 'string', format: 'date-time' },
    bytes: { type: 'integer' },
    files: { type: 'integer' },
    withKey: { type: 'boolean', description: 'Whether the master key is in it.' },
    skipped: { type: 'array', items: skippedSchema, description: 'What was left out, and why.' },
  },
  required: ['path', 'createdAt', 'bytes', 'files', 'withKey', 'skipped'],
} as const;

/** @param create  makes a backup; one at a time */
export const backupRoutes = (create: (withKey: boolean) => Promise<Archive>, storeHealth: StoreHealth): readonly Route[] => [
  defineRoute({
    name: 'POST /api/v1/backups',
    summary: 'Back up the workspace to one verified file in its directory backups, while everything goes on',
    kind: 'admin',
    body: {
      type: 'object',
      properties: {
        withKey: { type: 'boolean', default: false, description: 'Put the master key, which opens the stored secrets, into it.' },
      },
    },
    bodyOptional: true,
    answer: backupView,
    async handle({ body }) {
      const { name, bytes, manifest } = await create(body.withKey);
      const { createdAt, withKey, skipped } = manifest;
      const files = manifest.entries.filter(({ type }) => type === 'file').length;
      return { path: `backups/${name}`, createdAt, bytes, files, withKey, skipped };
    },
  }),
  defineRoute({
    name: 'GET /api/v1/database/check',
    summary: 'Read every page of the database and say whether it is sound',
    kind: 'read',
    answer: {
      type: 'object',
      properties: { sound: { type: 'boolean' }, problem: { type: ['string', 'null'] } },
      required: ['sound', 'problem'],
    },
    async handle() {
      const problem = storeHealth.problem() ?? (await storeHealth.check()) ?? null;
      return { sound: problem === null, problem };
    },
  }),
];
