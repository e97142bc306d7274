/** plugins/system/index.ts — Says who the server is and how it is: health, information, a page for people, and a file for other processes. */
import { definePlugin } from '../../kernel/index.ts';
import { infoView } from './info.ts';
import { systemRoutes } from './routes.ts';
import { removeServerFile, serverRecord, writeServerFile } from './server-file.ts';
import type { ServerRecord } from './server-file.ts';

export default definePlugin({
  name: 'system',
  requires: ['http', 'plugins', 'engine', 'agents', 'workspace', 'storeHealth', 'outside'],
  config: {
    type: 'object',
    properties: {
      version: { type: 'string', default: '0.0.0' },
      kind: { type: 'string', default: 'serve' },
    },
    additionalProperties: false,
  },
  setup(ctx) {
    const { http, plugins, engine, agents, workspace, storeHealth, outside } = ctx.services;
    const { version, kind } = ctx.config;
    const providers = ctx.registry('provider');
    const info = () => infoView({ version, providers, http, plugins, outside });
    for (const route of systemRoutes({ info, http, engine, storeHealth, agents, routes: ctx.registry('route'), clock: ctx.clock })) {
      ctx.register('route', route);
    }

    let written: Promise<ServerRecord | undefined> | undefined;
    ctx.own('server.json', async () => {
      const record = await written;
      if (record !== undefined) await removeServerFile(workspace, record);
    });
    const startedAt = ctx.clock.now();
    ctx.own(
      'listening',
      http.onListening(async ({ url }) => {
        const record = serverRecord({ url, version, kind, startedAt });
        const writing = writeServerFile(workspace, record);
        written = writing.then(
          () => record,
          () => undefined,
        );
        await writing;
      }),
    );
  },
});
