/** The last entry of a backup: what is in it, and how each file must be. */
import type { FromSchema } from '../../kernel/index.ts';
import { compileSchema } from '../../kernel/index.ts';

/** Its path in the archive. */
export const MANIFEST = 'manifest.json';
/** The copy of the database, in the archive and in the workspace. */
export const DATABASE = 'oryxos.db';
/** The key of the stored secrets, which a backup holds only when it was asked for. */
export const KEY = 'master.key';

const text = { type: 'string' } as const;
const mode = { type: 'integer', minimum: 0, maximum: 0o777 } as const;
const entrySchema = {
  type: 'object',
  properties: {
    path: text,
    type: { enum: ['file', 'directory', 'link'] },
    mode,
    size: { type: 'integer', minimum: 0 },
    sha256: { ...text, description: 'Of the content; of the target for a link; empty for a directory.' },
  },
  required: ['path', 'type', 'mode', 'size', 'sha256'],
} as const;

/** Something that was left out, and why. */
export const skippedSchema = { type: 'object', properties: { path: text, reason: text }, required: ['path', 'reason'] } as const;

const manifestSchema = {
  type: 'object',
  properties: {
    format: { const: 1 },
    product: { const: 'oryxos' },
    version: text,
    createdAt: { type: 'string', format: 'date-time' },
    withKey: { type: 'boolean' },
    entries: { type: 'array', items: entrySchema },
    skipped: { type: 'array', items: skippedSchema },
  },
  required: ['format', 'product', 'version', 'createdAt', 'withKey', 'entries', 'skipped'],
} as const;

/** One file, directory or link of a backup. */
export type ManifestEntry = FromSchema<typeof entrySchema>;
/** Something that is not in a backup, and why. */
export type Skipped = FromSchema<typeof skippedSchema>;
/** What is in a backup. `withKey` tells whether the master key is. */
export type Manifest = FromSchema<typeof manifestSchema>;

/** Reads a manifest; undefined, with no reason, for what is not one of a format that is known. */
export function parseManifest(json: string): Manifest | undefined {
  try {
    const checked = compileSchema(manifestSchema)(JSON.parse(json));
    return checked.ok ? checked.value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
