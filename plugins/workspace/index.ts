import { realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { OryxError, definePlugin, isOryxError, messageOf } from '../../kernel/index.ts';
import { createFile, replaceFile, type FileWrite } from './atomic-file.ts';
import type { Workspace } from './contract.ts';
import { initWorkspace, isUninitialized } from './init-workspace.ts';
import { instanceId } from './instance-id.ts';
import { removeStaleTemps } from './stale-temps.ts';

/** Finds or creates the workspace directory and offers it as the service `workspace`. */
export default definePlugin({
  name: 'workspace',
  configAt: { root: 'oryxos.root' },
  config: {
    type: 'object',
    properties: {
      root: { type: 'string', minLength: 1, default: '.oryxos' },
      template: {
        type: 'string',
        default: '',
        description: 'Directory to copy into a new workspace; the program sets it. Empty: copy nothing.',
      },
    },
    additionalProperties: false,
  },
  async setup(ctx) {
    const { root, created } = await openRoot(ctx.config.root, ctx.config.template);
    if (created.length > 0) ctx.log.info('Workspace created', { root, files: created.length });
    const removed = await removeStaleTemps(root);
    if (removed.length > 0) ctx.log.info('Temporary files of a crash removed', { files: removed });
    ctx.provide('workspace', workspaceAt(root, await instanceId(root)));
  },
});

async function openRoot(configured: string, template: string): Promise<{ root: string; created: readonly string[] }> {
  const wanted = resolve(configured);
  try {
    const created = (await isUninitialized(wanted)) ? await initWorkspace(wanted, template) : [];
    return { root: await realpath(wanted), created };
  } catch (error) {
    if (isOryxError(error)) throw error;
    const reason = (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? 'it is not a directory' : messageOf(error);
    throw new OryxError('ORYX_CONFIG', `The workspace "${configured}" (oryxos.root) cannot be used: ${reason}`, { cause: error });
  }
}

function workspaceAt(root: string, id: string): Workspace {
  const write = (file: string, content: string | Uint8Array, options: { readonly mode?: number } = {}): FileWrite => {
    const target = resolve(root, file);
    return { file: target, content, shownAs: relative(root, target), ...options };
  };
  return {
    root,
    instanceId: id,
    path: (...segments) => join(root, ...segments),
    writeFile: (file, content, options) => replaceFile(write(file, content, options)),
    createFile: (file, content, options) => createFile(write(file, content, options)),
  };
}
