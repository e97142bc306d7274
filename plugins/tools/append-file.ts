import type { Tool } from '../../kernel/index.ts';
import { defineTool, fail } from '../../kernel/index.ts';
import { printable } from '../outside/contract.ts';
import type { Files } from '../outside/contract.ts';
import { fileResult } from './file-result.ts';
import { brokenText } from './whole-text.ts';
import { pathParameter } from './parameters.ts';

/** `append_file`: adds to the end of a file. */
export const appendFileTool = (files: Files): Tool =>
  defineTool({
    name: 'append_file',
    description:
      'Add text to the end of a file, which is created with its directories when it is missing. Use it for logs and lists that grow. ' +
      'Nothing is put between: end the content with a line break yourself. Returns "Appended to <path>".',
    aliases: { file_path: 'path' },
    input: {
      type: 'object',
      properties: {
        path: pathParameter,
        content: { type: 'string', description: 'The text to add, at most 5 MiB.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    claims: ({ path }) => [{ kind: 'file', value: path, access: 'write' }],
    async execute({ path, content }, run) {
      const broken = brokenText('append_file', { content });
      if (broken !== undefined) return fail(broken);
      return fileResult(async () => {
        await files.append(path, Buffer.from(content), run);
        return `Appended to ${printable(path)}`;
      });
    },
  });
