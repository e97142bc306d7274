/** Provides the service `outside`: the one door through which tools touch files, and administrators' URLs are reached. */
import { definePlugin } from '../../kernel/index.ts';
import { createFiles } from './files.ts';
import { openDirectory } from './open-directory.ts';
import { createRegisteredHttp } from './registered-http.ts';

export default definePlugin({
  name: 'outside',
  requires: ['workspace'],
  configAt: { allowHardlinks: 'file.allow_hardlinks' },
  config: {
    type: 'object',
    properties: { allowHardlinks: { type: 'boolean', default: false } },
    additionalProperties: false,
  },
  setup(ctx) {
    const { workspace } = ctx.services;
    const files = createFiles({
      homeOf: (agent) => workspace.path('agents', agent),
      openDirectory,
      allowHardlinks: ctx.config.allowHardlinks,
    });
    ctx.provide('outside', { files, registered: createRegisteredHttp(ctx) });
  },
});
