import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SUFFIX = /^\d{8}T\d{9}Z.*\.db$/;

/** "20261130T132700123Z-before-migration.db": sorts by time; `taken` tells whether a name is in use. */
export function backupName(at: number, reason: string, taken: (name: string) => boolean): string {
  const time = new Date(at).toISOString().replaceAll(/[-:.]/g, '');
  const words =
    reason
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 64) || 'manual';
  for (let copy = 1; ; copy += 1) {
    const name = `${time}-${words}${copy === 1 ? '' : `-${copy}`}.db`;
    if (!taken(name)) return name;
  }
}

/** Name of the newest copy in `<root>/backups/`. */
export function newestBackup(root: string): string | undefined {
  const directory = join(root, 'backups');
  if (!existsSync(directory)) return undefined;
  return readdirSync(directory)
    .filter((name) => SUFFIX.test(name))
    .sort()
    .at(-1);
}
