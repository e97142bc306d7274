import type { Tool } from '../../kernel/index.ts';
import { defineTool } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { onePath } from './parameters.ts';

/** `make_dir`: creates a directory. */
export const makeDirTool = (files: Files): Tool =>
  defineTool({
    name: 'make_dir',
    description:
      'Create a directory with those above it. One that exists already is fine. Writing a file creates its directories anyway, so use this ' +
      'for empty ones. Returns "Created directory <path>".',
    idempotent: true,
    aliases: { directory: 'path' },
    input: onePath,
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'write' }],
    execute: ({ path }, run) =>
      fileResult(async () => {
        await files.makeDirectory(path, run);
        return `Created directory ${printable(path)}`;
      }),
  });
