import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { onePath } from './parameters.ts';

/** `delete_file`: removes one file. */
export const deleteFileTool = (files: Files): Tool =>
  defineTool({
    name: 'delete_file',
    description:
      'Delete one file for good; there is no way back. Directories are refused. Of a link only the link goes. Returns "Deleted <path>".',
    aliases: { file_path: 'path' },
    input: onePath,
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'write' }],
    execute: ({ path }, run) =>
      fileResult(async () => {
        await files.remove(path, run);
        return `Deleted ${printable(path)}`;
      }),
  });
