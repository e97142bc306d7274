/** plugins/backup/index.ts — Backs up a workspace to one file, online. */
import { definePlugin } from '../../kernel/index.ts';
import '../http/contract.ts';
import '../store/contract.ts';
import '../workspace/contract.ts';
import { type Archive, createArchive } from './create-archive.ts';
import { backupRoutes } from './routes.ts';

export default definePlugin({
  name: 'backup',
  requires: ['http', 'workspace', 'backups', 'storeHealth'],
  config: {
    type: 'object',
    properties: { version: { type: 'string', default: '0.0.0', description: 'Version of the product; the program sets it.' } },
    additionalProperties: false,
  },
  setup(ctx) {
    const { workspace, backups, storeHealth } = ctx.services;
    const { root } = workspace;
    let last: Promise<unknown> = Promise.resolve();

    async function archive(withKey: boolean): Promise<Archive> {
      const startedAt = ctx.clock.monotonic();
      const { version } = ctx.config;
      const parts = { root, version, copyDatabase: () => backups.create('part of archive'), at: ctx.clock.now(), signal: ctx.signal };
      const made = await createArchive(parts, withKey);
      ctx.log.info('Workspace backed up', {
        file: made.name,
        bytes: made.bytes,
        durationMs: Math.round(ctx.clock.monotonic() - startedAt),
      });
      return made;
    }

    const create = (withKey: boolean): Promise<Archive> => {
      const made = last.then(() => archive(withKey));
      last = made.catch(() => undefined);
      return made;
    };
    ctx.own('backup under way', async () => void (await last));
    for (const route of backupRoutes(create, storeHealth)) ctx.register('route', route);
  },
});
