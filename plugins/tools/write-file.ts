import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { brokenText } from './whole-text.ts';
import { pathParameter } from './parameters.ts';

/** `write_file`: creates or replaces a file as a whole. */
export const writeFileTool = (files: Files): Tool =>
  defineTool({
    name: 'write_file',
    description:
      'Create a text file, or replace one that exists, with the given content (at most 5 MiB). Missing directories are created. ' +
      'Put results into "output/" of your own directory. Returns "Wrote <path>".',
    aliases: { file_path: 'path' },
    input: {
      type: 'object',
      properties: {
        path: pathParameter,
        content: { type: 'string', description: 'The whole new content of the file.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'write' }],
    async execute({ path, content }, run) {
      const broken = brokenText('write_file', { content });
      if (broken !== undefined) return fail(broken);
      return fileResult(async () => {
        await files.write(path, Buffer.from(content), run);
        return `Wrote ${printable(path)}`;
      });
    },
  });
